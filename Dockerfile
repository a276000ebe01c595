# The register's processes; docker-compose.yml starts them beside PostgreSQL and Redis.
FROM rust:1.95-slim-bookworm AS drivetest
# The image brings one toolchain; rust-toolchain.toml would fetch another.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /build
COPY runners/drivetest .
RUN cargo build --release --locked

FROM python:3.13-slim-bookworm
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /srv/drivecert
COPY requirements.txt .
RUN pip install --no-cache-dir --require-hashes --requirement requirements.txt
COPY manage.py ./
COPY webapp webapp
COPY runners runners
COPY results results
COPY static static
COPY docs/glossary.md docs/glossary.md
COPY docs/reference/accuracy.json docs/reference/accuracy.json
COPY docs/reference/columns.md docs/reference/columns.md
COPY --from=drivetest /build/target/release/drivetest /usr/local/bin/drivetest
RUN useradd --system --uid 10001 drivecert && install -d -o drivecert -m 0700 /var/lib/drivecert
ENV DRIVETEST=/usr/local/bin/drivetest DRIVECERT_DATA=/var/lib/drivecert
USER drivecert
EXPOSE 8000
CMD ["granian", "--interface", "wsgi", "--host", "0.0.0.0", "--workers", "2", "--respawn-failed-workers", "webapp.wsgi:application"]
