#!/usr/bin/env bash
# Installs what the browser tests need: Chromium, and two packages for Node.js beside the tests. Says what it can't
# install; the tests are skipped then, and say so too.
set -euo pipefail
cd "$(dirname "$0")/../crates/pairity-cli/tests/browser"

skip() {
  echo "skipped: no browser tests: $1"
  exit 0
}

# Installs packages of the system, if that is ours to do: in containers one is root; elsewhere it is not for a
# test to change the system.
install() {
  [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || return 1
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@"; } > /dev/null 2>&1
}

browser() {
  for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name" > /dev/null; then return 0; fi
  done
  return 1
}

browser || install chromium fonts-dejavu-core || true
browser || skip "Chromium is not installed; install it, or name its binary in CHROMIUM"
command -v npm > /dev/null || install nodejs npm || true
command -v npm > /dev/null || skip "Node.js with npm is not installed"
# npm writes its list last: if that is newer than ours, nothing has to be done.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --silent --no-audit --no-fund || skip "the packages for Node.js could not be installed"
  touch node_modules/.package-lock.json
fi
