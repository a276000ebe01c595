#!/bin/sh
# A test decrypts a backup with the program age. Without it, and without the means to install it, the test is left out,
# loudly.
set -u
command -v age >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing the package age for the test of backups"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends --no-remove age >/dev/null
  command -v age >/dev/null && exit 0
fi
echo "NO AGE: a test of backups will be left out. Install the package age." >&2
