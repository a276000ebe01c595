#!/bin/sh
# Writes the configuration of nginx for a machine without containers below ROOT (default /): ports 80 and 443,
# certificates in /etc/drivecert/certificates, log in the journal. The unit is operations/systemd/drivecert-nginx.service.
set -eu
root="${1:-}"
here=$(dirname "$0")
to="$root/etc/drivecert/nginx"
install -d -m 0755 "$to"
adapt() {
  sed -e 's#/etc/nginx/register/#/etc/drivecert/nginx/#' -e 's# /certificates/# /etc/drivecert/certificates/#' \
    -e 's#/var/spool/nginx/#/var/cache/drivecert-nginx/#' -e 's#/tmp/limits.conf#/var/cache/drivecert-nginx/limits.conf#' \
    -e 's#/dev/stdout#syslog:server=unix:/dev/log,nohostname#' \
    -e '/listen /s/:8080/:80/;/listen /s/:8443/:443/' -e '/listen /s/ 8080/ 80/;/listen /s/ 8443/ 443/' "$1" >"$2"
}
adapt "$here/nginx.conf" "$to/nginx.conf"
adapt "$here/register.conf" "$to/register.conf"
adapt "$here/servers.host.conf" "$to/servers.conf"
