#!/bin/sh
# The test of certificates runs certbot against pebble, an authority for tests. Without them, and without the means to
# install them, it is left out, loudly.
set -u
has_all() { for program in pebble pebble-challtestsrv certbot; do command -v "$program" >/dev/null || return 1; done; }
has_all && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing the packages pebble and certbot for the tests of operations"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends --no-remove pebble certbot >/dev/null
  has_all && exit 0
fi
echo "NO ACME: the test of certificates will be left out. Install pebble and certbot." >&2
