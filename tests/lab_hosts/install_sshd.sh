#!/bin/sh
# Tests of lab hosts run a real sshd, sudo and systemd in namespaces. Without them, and without the means to install
# them, they are left out, loudly.
set -u
has_all() {
  for program in /usr/sbin/sshd ssh sudo ip /usr/lib/systemd/systemd; do command -v "$program" >/dev/null || return 1; done
}
install() { apt-get install -y -qq --no-install-recommends --no-remove "$@" >/dev/null; }
has_all && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing the packages openssh-server, openssh-client, sudo, iproute2 and systemd for the tests of lab hosts"
  export DEBIAN_FRONTEND=noninteractive
  # The tests start servers of their own; this machine must not become reachable for having run them.
  policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then policy=""; else printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 0755 "$policy"; fi
  # Few tests need systemd, and another init may be in its way.
  apt-get update -qq && install openssh-server openssh-client sudo iproute2 && install systemd
  [ -n "$policy" ] && rm -f "$policy"
  has_all && exit 0
fi
echo "NO LAB HOSTS: some or all of their tests will be left out. Install openssh-server, openssh-client, sudo, iproute2" \
  "and systemd, and run as root." >&2
