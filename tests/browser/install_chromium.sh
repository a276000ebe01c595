#!/bin/sh
# Browser tests drive the machine's own Chromium. Without one, and without the means to install it, they are left out, loudly.
set -u
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing the package chromium for the browser tests"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null && exit 0
fi
echo "NO CHROMIUM: the browser tests will be left out. Install the package chromium to run them." >&2
