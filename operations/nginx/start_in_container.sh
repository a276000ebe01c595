#!/bin/sh
# The command of the container of nginx (docker-compose.yml).
set -eu
sh /etc/nginx/register/write_limits.sh /tmp/limits.conf
# Only the name server of the container engine knows the other containers.
sed -n '/^nameserver /{s/^nameserver \(.*\)/resolver \1 valid=5s;/p;q}' /etc/resolv.conf >/tmp/resolver.conf
# A certificate that was renewed is read within six hours.
while sleep 21600; do nginx -s reload; done &
exec nginx -g 'daemon off;'
