#!/usr/bin/env bash
# Makes a Python environment, in the folder given, in which the bridge to PyTorch is tested: the system's Python with
# Debian's python3-torch, which is small, as it knows processors only. Says what it can't install; the tests are skipped
# then, and say so too.
set -euo pipefail
folder=$1

skip() {
  echo "skipped: no tests of the bridge to PyTorch: $1"
  exit 0
}

there() {
  /usr/bin/python3 -c 'import torch' 2> /dev/null
}

# Installs packages of the system, if that is ours to do: in containers one is root; elsewhere it is not for a test to
# change the system.
if ! there && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-torch python3-venv; } > /dev/null 2>&1 || true
fi
there || skip "the system's Python has no torch; install python3-torch"
/usr/bin/python3 -m venv --system-site-packages "$folder" || skip "the system's Python makes no environments; install python3-venv"
"$folder/bin/pip" install --quiet pytest || skip "pytest could not be installed"
