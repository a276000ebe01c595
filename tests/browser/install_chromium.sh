#!/bin/sh
# Browser tests use the machine's own Chromium, preferably its headless shell. The shell has the same engine but makes no
# desktop windows, which take a quarter of the processor time. Without a browser, the tests are left out with a warning.
set -u
export DEBIAN_FRONTEND=noninteractive
output=
has_one_of() {
  for name; do command -v "$name" >/dev/null && return; done
  return 1
}
install() {
  apt-cache show "$1" >/dev/null 2>&1 || return
  echo "installing the package $1 for the browser tests"
  output=$(apt-get install -y -qq --no-install-recommends --no-remove "$1" 2>&1)
}
has_one_of chromium-headless-shell && exit 0
may_install() { [ "$(id -u)" = 0 ] && has_one_of apt-get; }
may_install && install chromium-headless-shell && exit 0
has_one_of chromium chromium-browser google-chrome && exit 0
if may_install && apt-get update -qq; then
  install chromium-headless-shell && exit 0
  install chromium && exit 0
fi
echo "NO CHROMIUM: the browser tests will be left out. Install the package chromium-headless-shell to run them." >&2
[ -z "$output" ] || printf 'The last installation failed:\n%s\n' "$output" >&2
