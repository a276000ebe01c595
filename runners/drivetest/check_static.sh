#!/bin/sh
# Checks that drivetest runs without a dynamic linker, shared libraries and environment variables.
set -eu
program=$1
fail() { echo "$program: $1" >&2; exit 1; }

readelf --wide --program-headers "$program" | grep -q INTERP && fail "needs a dynamic linker"
readelf --wide --dynamic "$program" | grep -q NEEDED && fail "needs shared libraries"

folder=$(mktemp -d "$(dirname "$program")/check.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cat > "$folder/config" <<CONFIG
device-names: $folder/drive
file-size-mbytes: 4
test-duration-sec: 1
read-reqs-per-sec: 100
write-reqs-per-sec: 50
CONFIG
run() {
    env -i "$program" "$@" > "$folder/output" 2>&1 || { cat "$folder/output" >&2; fail "$1 failed"; }
}
run --version
run storage "$folder/config" --log "$folder/log"
grep -q '^reads (100 total)' "$folder/log" || fail "storage ran no load"
run identify "$folder/drive"
grep -q '"schema":"drivecert.identity/1"' "$folder/output" || fail "identify printed no record"
run prep "$folder/drive"
# An empty root directory contains no library. Only root can change to it.
if [ "$(id -u)" = 0 ]; then
    mkdir "$folder/empty" "$folder/empty/bin"
    cp "$program" "$folder/empty/bin/drivetest"
    PATH=/usr/sbin:$PATH chroot "$folder/empty" /bin/drivetest --version > "$folder/output" || fail "does not run in an empty root directory"
    python3 "$(dirname "$0")/check_register.py" "$program" "$folder/log" > "$folder/output" 2>&1 || { cat "$folder/output" >&2; fail "submit or agent failed in an empty root directory"; }
    submitted=", submit, agent"
fi
echo "$program: static, $(stat --format %s "$program") bytes; --version, identify, storage, prep${submitted:-} run"
