#!/usr/bin/env bash
# Installs what the browser tests need: Chromium, and two packages for Node.js beside the tests. Says what it can't
# install; the tests are skipped then, and say so too.
set -euo pipefail
cd "$(dirname "$0")/../crates/pairity-cli/tests/browser"

skip() {
  echo "skipped: no browser tests: $1"
  exit 0
}

found=
for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
  if [ -n "$name" ] && command -v "$name" > /dev/null; then
    found="$name"
    break
  fi
done
if [ -z "$found" ]; then
  # In containers one is root; elsewhere it is not for a test to change the system.
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    skip "Chromium is not installed; install it, or name its binary in CHROMIUM"
  fi
  { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core; } > /dev/null \
    || skip "Chromium could not be installed"
fi

command -v npm > /dev/null || skip "Node.js with npm is not installed"
# npm writes its list last: if that is newer than ours, nothing has to be done.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --silent --no-audit --no-fund || skip "the packages for Node.js could not be installed"
  touch node_modules/.package-lock.json
fi
