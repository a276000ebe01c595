"""The one settings module. Everything comes from the environment; docs/reference/settings.md lists the variables.

Importing this module starts no server. If DATABASE_URL or REDIS_URL is unset, `manage.py up` and the test session start
the embedded servers and set the variables for their child processes.
"""

import os
from pathlib import Path
from urllib.parse import urlparse

from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from webapp import env
from webapp.deployment.safety import refuse_unsafe
from webapp.notices import providers

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.read_text("DRIVECERT_DATA", str(BASE_DIR / "var"))).absolute()
EVIDENCE_DIR = DATA_DIR / "evidence"
# Where evidence is stored: in that directory, or in s3://bucket/prefix.
EVIDENCE_STORE = env.read_evidence_store("EVIDENCE_STORE")
S3_ENDPOINT = env.read_url_prefix("S3_ENDPOINT")
S3_REGION = env.read_text("S3_REGION", "us-east-1")
S3_ACCESS_KEY_ID = env.read_text("S3_ACCESS_KEY_ID")
S3_SECRET_ACCESS_KEY = env.read_text("S3_SECRET_ACCESS_KEY")
SNAPSHOT_DIR = DATA_DIR / "snapshots"
COLUMN_STORE_DIR = DATA_DIR / "column-store"
TELEMETRY_DIR = DATA_DIR / "telemetry"
LAB_DIR = DATA_DIR / "lab"
LAB_PROGRAMS = env.read_text("LAB_PROGRAMS", "")
DRIVETEST = Path(env.read_text("DRIVETEST", str(BASE_DIR / "runners/drivetest/target/release/drivetest")))

DEBUG = env.read_bool("DEBUG", default=False)
PRODUCTION = env.read_bool("PRODUCTION", default=False)
DEVELOPMENT_SECRET_KEY = "development-only-never-in-production"
SECRET_KEY = env.read_text("SECRET_KEY", DEVELOPMENT_SECRET_KEY)
# The keys that encrypt secrets in the database, the newest first. Older ones only decrypt.
ENCRYPTION_KEYS = env.read_list("ENCRYPTION_KEYS", DEVELOPMENT_SECRET_KEY)
ALLOWED_HOSTS = env.read_list("ALLOWED_HOSTS", "" if PRODUCTION else "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.read_list("CSRF_TRUSTED_ORIGINS")
# The public address of the site, for feeds, citations and search engines. Pages must not depend on the host name of a
# request, since they are the same bytes for everyone.
PUBLIC_URL = env.read_public_url("PUBLIC_URL", ALLOWED_HOSTS if PRODUCTION else [])
# A host of its own for files as they were received. It serves nothing else.
EVIDENCE_ORIGIN = env.read_origin("EVIDENCE_ORIGIN", other_than=PUBLIC_URL)
if EVIDENCE_ORIGIN:
    ALLOWED_HOSTS.append(str(urlparse(EVIDENCE_ORIGIN).hostname))
# Where the process of waiting clients (webapp/asgi.py) is reached; unset, the web servers send no client there.
LIVE_URL = env.read_origin("LIVE_URL")
DATABASE_PASSWORD = env.read_text("DATABASE_PASSWORD")
DATABASE_URL = env.read_url("DATABASE_URL", password=DATABASE_PASSWORD)
REDIS_PASSWORD = env.read_text("REDIS_PASSWORD")
REDIS_URL = env.read_url("REDIS_URL", password=REDIS_PASSWORD)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "corsheaders",
    "drf_spectacular",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "webapp",
    "webapp.accounts",
    "webapp.register",
    "webapp.submissions",
    "webapp.api",
    "webapp.lab",
    "webapp.notices",
    "webapp.webhooks",
    "webapp.backup",
    "webapp.monitoring",
    "webapp.status",
    "webapp.tracing",
    "runners",
    "results",
]

MIDDLEWARE = [
    "webapp.health.HealthMiddleware",
    "webapp.monitoring.exposition.MetricsMiddleware",
    "webapp.logs.request_ids.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "webapp.register.http.evidence_files.EvidenceHostMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "webapp.middleware.ContentSecurityPolicyMiddleware",
    "webapp.middleware.TrackingMarksMiddleware",
    "webapp.register.snapshots.database_down.DatabaseAwayMiddleware",
    "webapp.register.http.store_unavailable.StoreUnavailableMiddleware",
    "webapp.accounts.sessions.SessionMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "webapp.accounts.required_steps.RequiredStepsMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "webapp.urls"
WSGI_APPLICATION = "webapp.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "webapp" / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["webapp.templatetags.units", "webapp.templatetags.pages", "webapp.register.limits.tags"],
        },
    }
]

# Without a URL the settings still import (linters, --help); the first query then fails with the remedy in its text.
DATABASES = {
    "default": env.parse_database_url(
        DATABASE_URL or "postgresql:///drivecert?host=/DATABASE_URL-is-unset-use-manage.py-up"
    )
    | {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
}
# Limits of `manage.py prepare`: how long a migration waits for a lock before it is tried again, and how long one of its
# statements may take.
MIGRATION_LOCK_S = env.read_int("MIGRATION_LOCK_S", default=2)
MIGRATION_STATEMENT_S = env.read_int("MIGRATION_STATEMENT_S", default=900)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SESSION_ENGINE = "webapp.accounts.sessions"
AUTHENTICATION_BACKENDS = ["webapp.accounts.backends.AuthenticationBackend"]
# Reviewers and operators sign in again after so long; other users after two weeks without a visit (Django's default).
STAFF_SESSION_S = env.read_int("STAFF_SESSION_S", default=12 * 3600, least=300, most=14 * 86_400)
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "submission-list"
CSRF_FAILURE_VIEW = "webapp.register.http.responses.csrf_failure"
LOGOUT_REDIRECT_URL = "home"

# django-allauth. People sign in with their user name or their mail address. The address is verified by a link.
ACCOUNT_ADAPTER = "webapp.accounts.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*"]
ACCOUNT_FORMS = {
    "login": "webapp.accounts.forms.SignInForm",
    "signup": "webapp.accounts.forms.SignUpForm",
    "add_email": "webapp.accounts.forms.AddressForm",
    "change_password": "webapp.accounts.forms.PasswordChangeForm",
    "reset_password": "webapp.accounts.forms.PasswordResetForm",
    "reset_password_from_key": "webapp.accounts.forms.NewPasswordForm",
    "reauthenticate": "webapp.accounts.forms.PasswordForm",
}
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_CHANGE_EMAIL = True  # an account has one address; a new one replaces it when it is verified
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True  # only in the browser in which the person signed up
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_REAUTHENTICATION_METHODS = ("password", "mfa")
ACCOUNT_SESSION_REMEMBER = True
# Names that the register's own people would have. `admin` is the first user of a register that is not public.
ACCOUNT_USERNAME_BLACKLIST = ["admin", "administrator", "drivecert", "operator", "reviewer", "root", "staff", "support"]

# Wrong passwords are counted in webapp/accounts/throttle.py. `login_failed` counts wrong codes of second factors.
# No period is longer than the one that an answer 429 states.
ACCOUNT_RATE_LIMITS = {
    "login": None,
    "login_failed": "5/15m/key",
    "signup": "20/15m/ip",
    "reset_password": "20/15m/ip,5/15m/key",
}
ALLAUTH_RATE_LIMIT_IPV6_PREFIX = 64
CACHES = {"default": {"BACKEND": "webapp.access_limits.shared_cache.SharedCache"}}

USERSESSIONS_ADAPTER = "webapp.accounts.adapters.SessionsAdapter"
MFA_ADAPTER = "webapp.accounts.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_TOLERANCE = 1  # 30 s before and after: clocks of phones and machines differ
# A user without a verified address does not reach the pages of second factors; one who changes the address does.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_FORMS = {
    "authenticate": "webapp.accounts.forms.CodeForm",
    "reauthenticate": "webapp.accounts.forms.CodeAgainForm",
    "activate_totp": "webapp.accounts.forms.AuthenticatorAppForm",
    "add_webauthn": "webapp.accounts.forms.PasskeyForm",
}
# Passkeys belong to a domain name (the relying party), and to its subdomains. They do not work on an IP address.
PASSKEY_DOMAIN = env.read_text("PASSKEY_DOMAIN", (urlparse(PUBLIC_URL).hostname or "") if PRODUCTION else "localhost")

# Mail is sent by SMTP or by a provider. Without either, each message becomes a file.
EMAIL_HOST = env.read_text("EMAIL_HOST")
EMAIL_PORT = env.read_int("EMAIL_PORT", default=587)
EMAIL_HOST_USER = env.read_text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.read_text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.read_bool("EMAIL_USE_TLS", default=True)  # STARTTLS
EMAIL_USE_SSL = env.read_bool("EMAIL_USE_SSL", default=False)
if EMAIL_USE_SSL:
    EMAIL_USE_TLS = False
EMAIL_TIMEOUT = 10  # a server that does not answer must not hold every thread that serves pages
EMAIL_FILE_PATH = DATA_DIR / "mail"
MAIL_PROVIDER_KEY = env.read_text("MAIL_PROVIDER_KEY")
MAIL_PROVIDER_URL = env.read_text("MAIL_PROVIDER_URL")
MAIL_PROVIDER = providers.read_provider(env.read_text("MAIL_PROVIDER"), EMAIL_HOST, MAIL_PROVIDER_KEY)
MAIL_IS_STORED = MAIL_PROVIDER == providers.FOLDER
ANYMAIL = providers.anymail_settings(MAIL_PROVIDER, MAIL_PROVIDER_KEY, MAIL_PROVIDER_URL, EMAIL_TIMEOUT)
EMAIL_BACKEND = providers.backend_of(MAIL_PROVIDER)
DIGEST_HOUR = env.read_int("DIGEST_HOUR", default=7, least=0)  # of the daily mail, UTC
if DIGEST_HOUR > 23:
    raise ImproperlyConfigured(f"DIGEST_HOUR: expected an hour from 0 to 23, got {DIGEST_HOUR}")
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.read_text("DEFAULT_FROM_EMAIL", "drivecert@localhost")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # files are served from their source folders, so no collection step can be forgotten

BEHIND_TLS_PROXY = env.read_bool("BEHIND_TLS_PROXY", default=False)
SECURE_SSL_REDIRECT = env.read_bool("SECURE_SSL_REDIRECT", default=PRODUCTION and BEHIND_TLS_PROXY)
# Browsers that have seen the site over https use only https for so long.
SECURE_HSTS_SECONDS = env.read_int("SECURE_HSTS_SECONDS", default=365 * 86_400 if PRODUCTION else 0, least=0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.read_bool("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=False)
# The other hosts of the domain, and its entry in the lists of browsers, are not the register's to decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
if BEHIND_TLS_PROXY:
    # Only behind a proxy that sets this header itself; otherwise a visitor could forge it.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# The networks of the own proxies in front of the register, which append to X-Forwarded-For. Without any, the header is
# ignored. Earlier releases have the number of these proxies instead.
TRUSTED_PROXIES = env.read_networks("TRUSTED_PROXIES")
TRUSTED_PROXY_COUNT = env.read_int("TRUSTED_PROXY_COUNT", default=0, least=0)
if TRUSTED_PROXIES and TRUSTED_PROXY_COUNT:
    raise ImproperlyConfigured("TRUSTED_PROXIES and TRUSTED_PROXY_COUNT: expected one of them, got both")
# Requests to addresses that users enter reach only the public internet, and these networks.
OUTBOUND_ALLOWED_NETWORKS = env.read_networks("OUTBOUND_ALLOWED_NETWORKS")
OUTBOUND_CA_FILE = env.read_text("OUTBOUND_CA_FILE")  # certificates of authorities, in addition to those of the system
if OUTBOUND_CA_FILE and not Path(OUTBOUND_CA_FILE).is_file():
    raise ImproperlyConfigured(f"OUTBOUND_CA_FILE: expected a file with certificates, found none at {OUTBOUND_CA_FILE}")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION

UPLOAD_MAX_BYTES = env.read_int("UPLOAD_MAX_BYTES", default=2 * 1024**3)
# The limits on the drafts of one organisation together: files that are sent and not submitted yet.
DRAFT_BYTES_MAX = env.read_int("DRAFT_BYTES_MAX", default=20 * 1024**3)
DRAFT_FILES_MAX = env.read_int("DRAFT_FILES_MAX", default=500)
# A log and the files that belong to it: results/intake/submissions.py, COMPANIONS_MAX.
DATA_UPLOAD_MAX_NUMBER_FILES = 33
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024**2
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024**2
FILE_UPLOAD_HANDLERS = [
    "webapp.submissions.uploads.UploadLimitHandler",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# Quotas of objections in a day: by account, by organisation, and by client address; and the bytes of all attachments
# of one objection. Their number is FILES_MAX of results/lifecycle/objection_filing.py.
OBJECTIONS_PER_ACCOUNT = env.read_int("OBJECTIONS_PER_ACCOUNT", default=5)
OBJECTIONS_PER_ORGANISATION = env.read_int("OBJECTIONS_PER_ORGANISATION", default=20)
OBJECTIONS_PER_ADDRESS = env.read_int("OBJECTIONS_PER_ADDRESS", default=10)
OBJECTION_UPLOAD_MAX_BYTES = env.read_int("OBJECTION_UPLOAD_MAX_BYTES", default=64 * 1024**2)

# Limits on one `drivetest read` of an uploaded file (webapp/../results/reader/process.py).
READ_TIMEOUT_S = env.read_int("READ_TIMEOUT_S", default=60)
# Less than the time on the clock: a log that meets it is at fault, and not a busy machine, so it is not read again.
READ_CPU_S = env.read_int("READ_CPU_S", default=max(1, READ_TIMEOUT_S * 2 // 3))
READ_MEMORY_BYTES = env.read_int("READ_MEMORY_BYTES", default=512 * 1024**2)
READ_OUTPUT_BYTES = env.read_int("READ_OUTPUT_BYTES", default=128 * 1024**2)
READ_MAX_ATTEMPTS = 3

# Limits of /try/, which reads a log of anyone and stores nothing. All processes count together.
TRIAL_READINGS_AT_ONCE = env.read_int("TRIAL_READINGS_AT_ONCE", default=2)
TRIAL_READINGS_PER_HOUR = env.read_int("TRIAL_READINGS_PER_HOUR", default=10)
TRIAL_UPLOAD_MAX_BYTES = env.read_int("TRIAL_UPLOAD_MAX_BYTES", default=64 * 1024**2)
TRIAL_CPU_S = env.read_int("TRIAL_CPU_S", default=20)

# How many processes serve pages, and how many read logs. Each serving process has 8 threads.
WEB_PROCESSES = env.read_int("WEB_PROCESSES", default=min(len(os.sched_getaffinity(0)), 4), most=64)
WORKER_PROCESSES = env.read_int("WORKER_PROCESSES", default=2, most=64)

WATCH_PERIOD_S = env.read_int("WATCH_PERIOD_S", default=2)
LOOK_THREADS = env.read_int("LOOK_THREADS", default=4)
# With 100 running programs, each is polled every 10 s (benchmarks/results/agents.md).
RUN_POLLS_PER_S = env.read_int("RUN_POLLS_PER_S", default=10, least=1)
SWEEP_PERIOD_S = env.read_int("SWEEP_PERIOD_S", default=5)

# A lab host: the time limit of one request, and the longest outage before the register marks its dispatch as lost.
HOST_ANSWER_TIMEOUT_S = env.read_int("HOST_ANSWER_TIMEOUT_S", default=20)
HOST_SILENCE_S = env.read_int("HOST_SILENCE_S", default=900)
RUN_OVERDUE_S = env.read_int("RUN_OVERDUE_S", default=600, least=0)
# Time limits of programs without an ordered duration: a format, mount or clean-up; a YCSB client; a preparation, by
# the lowest write rate of a drive.
STAGE_LIMIT_S = env.read_int("STAGE_LIMIT_S", default=3600)
CLIENT_LIMIT_S = env.read_int("CLIENT_LIMIT_S", default=7 * 24 * 3600)
PREP_BYTES_PER_S_MIN = env.read_int("PREP_BYTES_PER_S_MIN", default=20_000_000)
SILENT_PERIOD_S = env.read_int("SILENT_PERIOD_S", default=30)
# The period of the checks of a remote host. After three periods without a check, the host gets no work.
HOST_CHECK_PERIOD_S = env.read_int("HOST_CHECK_PERIOD_S", default=300)
# Requirements for a host that takes work: a clock that agrees with the register's, and space for logs.
HOST_CLOCK_OFFSET_MAX_S = env.read_int("HOST_CLOCK_OFFSET_MAX_S", default=30, least=0)
HOST_FREE_MIB_MIN = env.read_int("HOST_FREE_MIB_MIN", default=1024, least=0)
# The time after which a run directory is removed from its host, if the register stores its contents; 0 keeps all.
RUN_DIR_RETENTION_S = env.read_int("RUN_DIR_RETENTION_S", default=30 * 86_400, least=0)

# The period in which the snapshot of the public pages is compared with the register, and the age at which a page is
# regenerated without a known change.
SNAPSHOT_PERIOD_S = env.read_int("SNAPSHOT_PERIOD_S", default=15)
SNAPSHOT_AGE_MAX_S = env.read_int("SNAPSHOT_AGE_MAX_S", default=6 * 3600)

# The scrub: how often every stored file is hashed again, and its limit of bandwidth.
SCRUB_PERIOD_DAYS = env.read_int("SCRUB_PERIOD_DAYS", default=30)
SCRUB_BYTES_PER_S = env.read_int("SCRUB_BYTES_PER_S", default=50_000_000)

# The time after which the secret link of a submission expires.
SECRET_LINK_DAYS = env.read_int("SECRET_LINK_DAYS", default=180)

# The nightly dump of the public register: the number of days it is kept, and the licence of its data.
DUMP_KEPT_DAYS = env.read_int("DUMP_KEPT_DAYS", default=14, least=0)
# A register that imports a dump of another register starts without products.
PUBLISHED_CATALOGUE = env.read_bool("PUBLISHED_CATALOGUE", default=True)
# `manage.py up` creates the example runs once. A production register has them only if its operator asks for them.
EXAMPLE_RUNS = env.read_bool("EXAMPLE_RUNS", default=not PRODUCTION)
DATA_LICENCE = env.read_text("DATA_LICENCE", "CC-BY-4.0")

# The number of reviewers who must approve each step that makes a result public, and the function that returns the
# organisations of a reviewer: `results` may not import accounts.
REVIEWS_NEEDED = env.read_int("REVIEWS_NEEDED", default=2 if PRODUCTION else 1, most=2)
ORGANISATIONS_OF_REVIEWERS = "webapp.accounts.affiliations.organisations_at"

# The age of the last good backup from which `manage.py doctor` warns.
BACKUP_AGE_MAX_H = env.read_int("BACKUP_AGE_MAX_H", default=26)
# Where the PostgreSQL of `manage.py up` copies its log, for a recovery to any moment.
WAL_ARCHIVE = Path(env.read_text("WAL_ARCHIVE")).absolute() if env.read_text("WAL_ARCHIVE") else None

# The operator, as /about/ states it; what is unset is shown as not reported. A contact is a mail or web address.
OPERATOR_NAME = env.read_text("OPERATOR_NAME")
OPERATOR_PLACE = env.read_text("OPERATOR_PLACE")
OPERATOR_CONTACT = env.read_text("OPERATOR_CONTACT")
OPERATOR_FUNDING = env.read_text("OPERATOR_FUNDING")
OPERATOR_INTERESTS = env.read_text("OPERATOR_INTERESTS")

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "drivecert"
# The lab has a queue and a worker of its own: a cancel must not wait for the reading of long logs. A worker without
# a named queue serves both.
CELERY_TASK_QUEUES = (Queue("drivecert", routing_key="drivecert"), Queue("lab", routing_key="lab"))
LAB_TASKS = ("runners.watch_dispatches", "runners.advance_dispatch", "runners.watch_campaigns", "runners.check_hosts")
CELERY_TASK_ROUTES = {name: {"queue": "lab"} for name in LAB_TASKS}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A notification is sent once. Without a broker, a page would otherwise wait 6 s, and the sweep finds the row anyway.
CELERY_BROKER_TRANSPORT_OPTIONS = {"max_retries": 0}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Name, task, period, and the time after which a notification is stale: no backlog awaits a worker that was away.
PERIODIC_TASKS = (
    # Polls are at most a period and a half apart.
    ("watch-dispatches", "runners.watch_dispatches", WATCH_PERIOD_S / 2, WATCH_PERIOD_S * 2),
    ("watch-campaigns", "runners.watch_campaigns", WATCH_PERIOD_S, WATCH_PERIOD_S * 2),
    ("check-hosts", "runners.check_hosts", min(60, HOST_CHECK_PERIOD_S), min(60, HOST_CHECK_PERIOD_S)),
    ("sweep-readings", "runners.sweep_readings", SWEEP_PERIOD_S, SWEEP_PERIOD_S * 2),
    ("send-notices", "notices.send", SWEEP_PERIOD_S, SWEEP_PERIOD_S * 2),
    ("remove-old-notices", "notices.remove_old", 3600, 3600),
    ("deliver-webhooks", "webhooks.deliver", SWEEP_PERIOD_S, SWEEP_PERIOD_S * 2),
    ("remove-old-deliveries", "webhooks.remove_old", 3600, 3600),
    ("sweep-deadlines", "results.sweep_deadlines", 60, 120),
    ("remove-leftovers", "results.remove_leftovers", 3600, 3600),
    ("scrub-evidence", "results.scrub_evidence", 60, 60),
    ("fold-listing-changes", "results.fold_listing_changes", 600, 600),
    ("keep-snapshot", "register.keep_snapshot", SNAPSHOT_PERIOD_S, SNAPSHOT_PERIOD_S * 2),
    # The task starts every quarter of an hour but writes one dump a day, so it makes up for a night without a worker.
    ("keep-dump", "register.keep_dump", 900, 900),
    ("record-status", "status.record", 60, 60),
    ("count-rows", "monitoring.count", 60, 120),
    ("remove-old-traces", "tracing.remove_old", 3600, 3600),
    ("remove-personal-data", "accounts.remove_personal_data", 3600, 3600),
)
CELERY_BEAT_SCHEDULE = {
    name: {"task": task, "schedule": period_s, "options": {"expires": expires_s}}
    for name, task, period_s, expires_s in PERIODIC_TASKS
}

# Pages of other sites may read what is public: everyone gets the same, and no cookie is sent along.
CORS_URLS_REGEX = (
    r"^/api/v1/(certificates|check|claims|docs|figures|landscape|news|objections|products/([^/]+/)?$|published-figures"
    r"|runs|schema|sizing|ycsb)"
)
CORS_ALLOW_ALL_ORIGINS = True
CORS_ALLOW_METHODS = ("GET", "HEAD", "OPTIONS", "POST")
CORS_ALLOW_HEADERS = ("accept", "content-type", "if-none-match")
CORS_EXPOSE_HEADERS = ("etag", "retry-after")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["webapp.api.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "webapp.api.problems.problem_details",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.CursorPagination",
    "PAGE_SIZE": 100,
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,  # "format" is an unknown parameter, as any other
}
# What the site is: citations, titles and the API say it in these words.
SITE_DESCRIPTION = "public register of storage drives"
SPECTACULAR_SETTINGS = {
    "TITLE": "Drivecert",
    "DESCRIPTION": f"The {SITE_DESCRIPTION}.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "webapp.api.schema.add_problems",
        "webapp.api.schema.add_links",
    ],
    "COMPONENT_SPLIT_REQUEST": True,  # files are bytes in a request and addresses in a response
    "ENUM_NAME_OVERRIDES": {
        "AgentStateEnum": "webapp.lab.hosts.page.AgentState",
        "CampaignStateEnum": "runners.models.campaign.Campaign.State",
        "CampaignEntryKindEnum": "runners.models.campaign.CampaignEntry.Kind",
        "CertificateStateEnum": "results.models.certificate.Certificate.State",
        "DispatchStateEnum": "runners.models.states.State",
        "HostKindEnum": "runners.models.host.Host.Kind",
        "PeriodKindEnum": "webapp.lab.calendar.periods.PeriodKind",
        "OrderTemplateKindEnum": "runners.models.order_template.OrderTemplate.Kind",
        "ObjectionOutcomeEnum": "results.models.objection.Objection.Outcome",
        "ObjectionStateEnum": "results.models.objection.ObjectionState",
        "StepKindEnum": "runners.models.dispatch.Step.Kind",
        "VerdictOutcomeEnum": "results.models.run.Verdict.Outcome",
    },
}

# Each of these loggers would write at least one line for every poll of a dispatch.
QUIET = ("celery.beat", "celery.worker.strategy", "celery.app.trace", "asyncssh")
LOG_LEVEL = env.read_text("LOG_LEVEL", "INFO")
# Lines for people, or one JSON object a line for programs that collect logs.
LOG_FORMAT = env.read_text("LOG_FORMAT", "lines")
if LOG_FORMAT not in {"lines", "json"}:
    raise ImproperlyConfigured(f"LOG_FORMAT: expected lines or json, got {LOG_FORMAT!r}")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "lines": {
            "()": "webapp.logs.formatting.LineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        },
        "json": {"()": "webapp.logs.formatting.JSONFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # Periodic tasks start every few seconds. Up to three lines for each would fill the disk with useless output.
    "loggers": {name: {"level": "WARNING"} for name in QUIET},
}

# /metrics: the bearer token of a monitoring server on another machine, and the folder in which processes count pages.
METRICS_TOKEN = env.read_text("METRICS_TOKEN")
if METRICS_TOKEN and len(METRICS_TOKEN) < 20:
    raise ImproperlyConfigured(f"METRICS_TOKEN: expected at least 20 characters, got {len(METRICS_TOKEN)}")
METRICS_DIR = Path(env.read_text("METRICS_DIR", str(DATA_DIR / "run" / "metrics"))).absolute()

# OpenTelemetry: the collector that gets the traces of requests, and the share of requests that have one.
OTEL_EXPORTER_OTLP_ENDPOINT = env.read_url_prefix("OTEL_EXPORTER_OTLP_ENDPOINT")
OTEL_EXPORTER_OTLP_HEADERS = env.read_headers("OTEL_EXPORTER_OTLP_HEADERS")
OTEL_SERVICE_NAME = env.read_text("OTEL_SERVICE_NAME", "drivecert")
OTEL_TRACES_SAMPLER_ARG = env.read_share("OTEL_TRACES_SAMPLER_ARG", default=1.0)
if PRODUCTION:
    refuse_unsafe(globals())
