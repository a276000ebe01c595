#!/bin/sh
# Writes the size of the largest request into FILE, which nginx reads: UPLOAD_MAX_BYTES of the register (2 GiB if it is
# not set), rounded up to MiB, and 52 MiB for the other fields of the form. It runs before each start of nginx.
# Usage: write_limits.sh FILE [SETTINGS]. SETTINGS is a file of NAME=value lines; without it, the environment counts.
set -eu
umask 022
bytes="${UPLOAD_MAX_BYTES:-}"
if [ $# -gt 1 ] && [ -e "$2" ]; then
  bytes="$(sed -n 's/^UPLOAD_MAX_BYTES=//p' "$2" | tail -n 1 | tr -d "\"'")"
fi
bytes="${bytes:-2147483648}"
case "$bytes" in
  *[!0-9]*) echo "UPLOAD_MAX_BYTES: expected a whole number, got '$bytes'" >&2; exit 1 ;;
esac
echo "client_max_body_size $(((bytes + 1048575) / 1048576 + 52))m;" >"$1"
