#!/bin/sh
# Browser tests drive the machine's own Chromium, best its headless shell: the same engine without the windows of a
# desktop, which take a quarter of the processor time. Without any, they are left out, loudly.
set -u
export DEBIAN_FRONTEND=noninteractive
has_one_of() {
  for name; do command -v "$name" >/dev/null && return; done
  return 1
}
install() {
  echo "installing the package $1 for the browser tests"
  apt-get install -y -qq --no-install-recommends --no-remove "$1" >/dev/null 2>&1
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
