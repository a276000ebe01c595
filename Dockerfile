# The register's processes; docker-compose.yml starts them beside PostgreSQL, Redis and nginx.
# operations/images.lock has the base images by digest; operations/image_check.sh builds this file without a registry.
ARG RUST_IMAGE=docker.io/library/rust:1.95-slim-bookworm
ARG PYTHON_IMAGE=docker.io/library/python:3.13-slim-bookworm

FROM ${RUST_IMAGE} AS drivetest
# The image brings one toolchain; rust-toolchain.toml would fetch another.
ARG RUSTUP_TOOLCHAIN=1.95.0
ENV RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN}
WORKDIR /build
COPY runners/drivetest .
RUN cargo build --release --locked --package drivetest-cli

# Wheels of everything but the embedded servers, with their hashes compared.
FROM ${PYTHON_IMAGE} AS wheels
WORKDIR /build
COPY requirements.txt scripts/production_requirements.py ./
RUN python production_requirements.py requirements.txt > production.txt \
    && python -m venv /venv \
    && /venv/bin/python -m pip install --no-cache-dir --disable-pip-version-check --only-binary :all: --no-deps \
    --require-hashes --requirement production.txt \
    && /venv/bin/python -m pip uninstall --yes pip

FROM ${PYTHON_IMAGE}
# `manage.py backup` and `restore` run pg_dump and pg_restore, of the server's major version. Debian has an older one.
ARG POSTGRES_CLIENT=postgresql-client-18
RUN apt-get update -qq \
    && if [ "$POSTGRES_CLIENT" != postgresql-client ]; then \
    apt-get install -y -qq --no-install-recommends postgresql-common ca-certificates \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y; fi \
    && apt-get install -y -qq --no-install-recommends "$POSTGRES_CLIENT" \
    && rm -rf /var/lib/apt/lists/*
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    DRIVETEST=/usr/local/bin/drivetest DRIVECERT_DATA=/var/lib/drivecert TMPDIR=/var/spool/drivecert HOME=/tmp
WORKDIR /srv/drivecert
RUN groupadd --gid 10001 drivecert \
    && useradd --uid 10001 --gid 10001 --no-create-home --no-log-init --shell /usr/sbin/nologin drivecert \
    && install -d -o drivecert -g drivecert -m 0700 /var/lib/drivecert /var/spool/drivecert
COPY --from=wheels /venv /venv
COPY --from=drivetest /build/target/release/drivetest /usr/local/bin/drivetest
COPY manage.py ./
COPY webapp webapp
COPY runners runners
COPY results results
COPY static static
COPY docs/glossary.md docs/glossary.md
COPY docs/reference/accuracy.json docs/reference/accuracy.json
COPY docs/reference/columns.md docs/reference/columns.md
RUN python -m compileall -q /srv/drivecert /venv/lib || true
USER 10001:10001
VOLUME ["/var/lib/drivecert", "/var/spool/drivecert"]
EXPOSE 8000 8001
CMD ["python", "manage.py", "serve", "web"]
