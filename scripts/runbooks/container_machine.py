"""A clean machine that runs containers: podman and podman-compose in the place of Docker, and images made here.

No registry of images is needed: the base images and those of the servers are Debian with Debian's packages. `docker`
is a program that calls podman-compose; `DIFFERENCES` says what is not as on the machine of an operator.
"""

import shutil

from scripts.runbooks.clean_machine import OWN_AUTHORITIES, TRUSTED, CleanMachine
from tests.lab_hosts.network import run

# On the machine of an operator, Docker is there before the runbook begins; git, openssl and curl as well.
PROGRAMS = "podman crun netavark aardvark-dns iptables conmon python3-venv git openssl curl procps"
VARIABLES = """RUST_IMAGE=localhost/rust-base
PYTHON_IMAGE=localhost/python-base
POSTGRES_IMAGE=localhost/servers
REDIS_IMAGE=localhost/servers
NGINX_IMAGE=localhost/servers
CERTBOT_IMAGE=localhost/servers
"""
# crun refuses limits above those of this machine.
CONTAINERS_CONF = """[containers]
default_ulimits = ["nofile=16384:16384", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
STORAGE_CONF = '[storage]\ndriver = "overlay"\ngraphroot = "/var/lib/containers/storage"\nrunroot = "/run/containers"\n'
# The variables name the images made here. Without systemd, podman has no timers for health checks: this program runs
# each check until it succeeds, as `--wait` does. Debian's client of PostgreSQL is in the image.
DOCKER = """#!/bin/bash
test "$1" = compose || { echo "expected docker compose, found docker $1" >&2; exit 1; }
shift
set -a; . /opt/images.env; DISABLE_HC_SYSTEMD=true; set +a
words=() waits="" more=()
for each in "$@"; do
  if [ "$each" = --wait ]; then waits=yes; else words+=("$each"); fi
  if [ "$each" = build ]; then more=(--build-arg POSTGRES_CLIENT=postgresql-client); fi
done
/opt/podman-compose/bin/podman-compose --podman-path /opt/podman "${words[@]}" "${more[@]}" || exit
test -n "$waits" || exit 0
end=$((SECONDS + 300))
for id in $(podman ps --quiet); do
  until podman healthcheck run "$id" >/dev/null 2>&1; do
    if [ $SECONDS -gt $end ]; then echo "unhealthy: $(podman inspect --format '{{.Name}}' "$id")" >&2; exit 1; fi
    sleep 1
  done
done
"""
# podman 4.3 refuses to start a container whose `--requires` runs already; podman-compose starts them in their order.
# A container without limits of its own would get limits above those of this machine, which crun refuses.
PODMAN = """#!/bin/bash
words=()
for each in "$@"; do
  [[ $each == --requires=* ]] || words+=("$each")
  if [[ ${#words[@]} == 1 && ( $each == run || $each == create ) ]]; then
    words+=(--ulimit nproc=4096:4096 --ulimit nofile=16384:16384)
  fi
done
exec /usr/bin/podman "${words[@]}"
"""
SERVERS = """FROM localhost/python-base
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \\
    postgresql redis-server nginx-light curl certbot >/dev/null \\
    && groupadd --gid 1000 redis-group && usermod --non-unique --uid 999 postgres \\
    && install -d -o 999 -m 0700 /var/lib/postgresql
COPY postgres.sh /usr/local/bin/entrypoint
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENTRYPOINT ["/usr/local/bin/entrypoint"]
"""
POSTGRES = """#!/bin/sh
# What the entry point of the official image does for the variables of docker-compose.yml; other programs just start.
set -eu
[ "$1" = postgres ] || exec "$@"
shift
data=/var/lib/postgresql/data
if [ ! -e $data/PG_VERSION ]; then
  initdb --pgdata=$data --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-host=scram-sha-256 \\
    --auth-local=trust
  echo 'host all all all scram-sha-256' >> $data/pg_hba.conf
  pg_ctl --pgdata=$data --wait --options='-c listen_addresses=' start
  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --pgdata=$data --wait stop
fi
exec postgres -D $data -c listen_addresses='*' "$@"
"""
CARGO = "#!/bin/sh\nmkdir -p target/release && cp /usr/local/share/drivetest target/release/drivetest\n"
INSTALL = f"""
set -e
apt-get update -qq
apt-get install -y -qq --no-install-recommends {PROGRAMS} >/dev/null
python3 -m venv /opt/podman-compose
/opt/podman-compose/bin/pip install --quiet podman-compose
tar -C /opt/base -c . | podman import --quiet --change 'ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt' - \\
  localhost/debian >/dev/null
rm -rf /opt/base
cd /opt/images
podman build --quiet --tag localhost/python-base --file python-base .
podman build --quiet --tag localhost/rust-base --file rust-base .
podman build --quiet --tag localhost/servers --file servers .
"""
PYTHON_BASE = """FROM localhost/debian
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv \\
    >/dev/null && ln -sf python3 /usr/bin/python
"""
RUST_BASE = "FROM localhost/python-base\nCOPY cargo /usr/local/bin/cargo\nCOPY drivetest /usr/local/share/drivetest\n"
DIFFERENCES = (
    "`docker` is a program that calls podman-compose, with podman and crun of Debian.",
    "All images are Debian with Debian's packages, made here: no registry of images can be reached. The base for Rust "
    "has a stand-in for cargo that copies a drivetest which was built before; PostgreSQL is Debian's, and its entry "
    "point a script that does the same for the variables of docker-compose.yml.",
)


class ContainerMachine(CleanMachine):
    """A machine with Docker, as far as a stand-in can be Docker."""

    def install(self) -> None:
        """Make its root directory, with the files from which `INSTALL` makes the programs and images."""
        super().install()
        base = self.root / "opt/base"
        run("cp", "--archive", "--reflink=auto", str(self.debian), str(base))
        for path in OWN_AUTHORITIES.glob("*.crt"):
            shutil.copy(path, base / "usr/local/share/ca-certificates")
        run("chroot", str(base), "update-ca-certificates")
        (base / "etc/pip.conf").write_text(f"[global]\ncert = {TRUSTED}\n")
        self.write("opt/images.env", VARIABLES)
        self.write("usr/local/bin/docker", DOCKER, 0o755)
        self.write("opt/podman", PODMAN, 0o755)
        self.write("etc/containers/containers.conf", CONTAINERS_CONF)
        self.write("etc/containers/storage.conf", STORAGE_CONF)
        for name, text, mode in (
            ("python-base", PYTHON_BASE, 0o644), ("rust-base", RUST_BASE, 0o644), ("servers", SERVERS, 0o644),
            ("postgres.sh", POSTGRES, 0o755), ("cargo", CARGO, 0o755),
        ):  # fmt: skip
            self.write(f"opt/images/{name}", text, mode)
