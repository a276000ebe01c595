#!/bin/sh
# The test of a major upgrade needs the programs of an older PostgreSQL. Without them, and without the means to install
# them, it is left out, loudly. The package would create and start a cluster of its own; nothing starts here.
set -u
programs=/usr/lib/postgresql/15/bin
[ -x "$programs/initdb" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing the package postgresql-15 for the test of a major upgrade"
  export DEBIAN_FRONTEND=noninteractive
  policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then policy=""; else printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 0755 "$policy"; fi
  mkdir -p /etc/postgresql-common
  [ -e /etc/postgresql-common/createcluster.conf ] || echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
  apt-get update -qq && apt-get install -y -qq --no-install-recommends --no-remove postgresql-15 >/dev/null
  [ -n "$policy" ] && rm -f "$policy"
  [ -x "$programs/initdb" ] && exit 0
fi
echo "NO OLDER POSTGRESQL: the test of a major upgrade will be left out. Install postgresql-15." >&2
