#!/bin/sh
# Tests of the configuration of nginx run a real nginx. Without it, and without the means to install it, they are left
# out, loudly.
set -u
has_all() { for program in nginx openssl; do PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null || return 1; done; }
has_all && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing the packages nginx-light and openssl for the tests of operations"
  export DEBIAN_FRONTEND=noninteractive
  # The tests start servers of their own; this machine must not serve anything for having run them.
  policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then policy=""; else printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 0755 "$policy"; fi
  apt-get update -qq && apt-get install -y -qq --no-install-recommends --no-remove nginx-light openssl >/dev/null
  [ -n "$policy" ] && rm -f "$policy"
  has_all && exit 0
fi
echo "NO NGINX: the tests of its configuration will be left out. Install nginx-light and openssl." >&2
