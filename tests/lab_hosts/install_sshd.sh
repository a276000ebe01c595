#!/bin/sh
# Tests of lab hosts run a real sshd and a real sudo in namespaces. Without them, and without the means to install them,
# they are left out, loudly.
set -u
command -v sudo >/dev/null && [ -x /usr/sbin/sshd ] && command -v ip >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing the packages openssh-server, sudo and iproute2 for the tests of lab hosts"
  export DEBIAN_FRONTEND=noninteractive
  # The tests start servers of their own; this machine must not become reachable for having run them.
  policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then policy=""; else printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 0755 "$policy"; fi
  apt-get update -qq && apt-get install -y -qq --no-install-recommends openssh-server sudo iproute2 >/dev/null
  installed=$?
  [ -n "$policy" ] && rm -f "$policy"
  [ "$installed" = 0 ] && exit 0
fi
echo "NO SSHD: the tests of lab hosts will be left out. Install openssh-server, sudo and iproute2, and run as root." >&2
