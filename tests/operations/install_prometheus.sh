#!/bin/sh
# Tests of the alert rules run promtool, and one test runs a real Prometheus and a real Alertmanager. Without them, and
# without the means to install them, these tests are left out, loudly.
set -u
has_all() {
  for program in promtool prometheus prometheus-alertmanager; do command -v "$program" >/dev/null || return 1; done
}
has_all && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing the packages prometheus and prometheus-alertmanager for the tests of operations"
  export DEBIAN_FRONTEND=noninteractive
  # The tests start servers of their own; those of the packages must not start.
  policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then policy=""; else printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 0755 "$policy"; fi
  apt-get update -qq && apt-get install -y -qq --no-install-recommends --no-remove prometheus prometheus-alertmanager >/dev/null
  [ -n "$policy" ] && rm -f "$policy"
  has_all && exit 0
fi
echo "NO PROMETHEUS: the tests of alert rules will be left out. Install prometheus and prometheus-alertmanager." >&2
