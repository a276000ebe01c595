#!/bin/sh
# Shows that a drivetest needs nothing of the host it runs on: no interpreter, no library, no environment.
set -eu
program=$1
fail() { echo "$program: $1" >&2; exit 1; }

readelf --wide --program-headers "$program" | grep -q INTERP && fail "asks for a dynamic linker"
readelf --wide --dynamic "$program" | grep -q NEEDED && fail "asks for shared libraries"

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
    env -i "$program" "$@" > "$folder/said" 2>&1 || { cat "$folder/said" >&2; fail "$1 failed"; }
}
run --version
run storage "$folder/config" --log "$folder/log"
grep -q '^reads (100 total)' "$folder/log" || fail "storage ran no load"
run identify "$folder/drive"
grep -q '"schema":"drivecert.identity/1"' "$folder/said" || fail "identify told nothing"
run prep "$folder/drive"
# An empty root holds no library that could be found by chance; only root may change to one.
if [ "$(id -u)" = 0 ]; then
    mkdir "$folder/empty" "$folder/empty/bin"
    cp "$program" "$folder/empty/bin/drivetest"
    PATH=/usr/sbin:$PATH chroot "$folder/empty" /bin/drivetest --version > "$folder/said" || fail "does not run in an empty root"
fi
echo "$program: static, $(stat --format %s "$program") bytes; --version, identify, storage and prep run"
