"""One settings module: defaults run from a fresh clone, the environment changes the rest."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.management.utils import get_random_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()

VAR_DIR = Path(env.str("CLEANPASS_VAR", default=str(BASE_DIR / "var")))
VAR_DIR.mkdir(parents=True, exist_ok=True)


def _secret_key() -> str:
    """The key from the environment, else one made once and kept beside the data."""
    if key := env.str("CLEANPASS_SECRET_KEY", default=""):
        return str(key)
    path = VAR_DIR / "secret_key"
    if not path.exists():
        # Several processes start together: the first to link its file wins.
        own = VAR_DIR / f"secret_key.{os.getpid()}"
        own.touch(mode=0o600)
        own.write_text(get_random_secret_key())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(own)
        own.unlink()
    return path.read_text()


SECRET_KEY = _secret_key()
DEBUG = env.bool("CLEANPASS_DEBUG", default=False)
ALLOWED_HOSTS = env.list("CLEANPASS_ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CLEANPASS_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "servestatic.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "csp",
    "django_filters",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "people",
    "catalog",
    "runs",
    "runs.sweeps",
    "runs.compare",
    "runs.campaigns",
    "runs.traffic",
    "verdicts",
    "verdicts.notifications",
    "verdicts.ledger",
    "verdicts.policies",
    "verdicts.promotions",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "people.middleware.PasswordChangeMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "people.context.access",
                "runs.context.running_now",
                "verdicts.notifications.context.inbox",
                "verdicts.ledger.context.verification",
            ],
            "builtins": ["runs.templatetags.figures"],
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["django.template.loaders.filesystem.Loader"],
                )
            ],
        },
    }
]


def _database() -> dict[str, Any]:
    """PostgreSQL by DATABASE_URL; else SQLite set up for several writing processes."""
    if env.str("DATABASE_URL", default=""):
        return {**env.db("DATABASE_URL"), "CONN_HEALTH_CHECKS": True, "CONN_MAX_AGE": 60}
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": VAR_DIR / "cleanpass.sqlite3",
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
        # File-backed in tests as well: consumers and workers open connections of their own.
        "TEST": {"NAME": VAR_DIR / "test.sqlite3"},
    }


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Celery and Channels: one server-free stack, one distributed -------------------------------
REDIS_URL = env.str("REDIS_URL", default="")

CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "cleanpass"},
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_TASK_DEFAULT_QUEUE = "ticks"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
CELERY_BEAT_SCHEDULE = {
    # What is due lives in the database; this only looks. Old ticks expire instead of piling up.
    "tick": {"task": "runs.tasks.tick", "schedule": 5.0, "options": {"expires": 5}},
    "deliver": {
        "task": "verdicts.notifications.tasks.deliver",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "tick-sweeps": {
        "task": "runs.sweeps.tasks.tick_sweeps",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "tick-campaigns": {
        "task": "runs.campaigns.tasks.tick_campaigns",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "expire-promotions": {
        "task": "verdicts.promotions.tasks.expire",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "warn-of-staleness": {"task": "verdicts.promotions.tasks.warn", "schedule": 3600.0},
    "verify-ledger": {"task": "verdicts.ledger.tasks.verify", "schedule": 3600.0},
    "keep-series": {"task": "runs.tasks.keep_series", "schedule": 3600.0},
}
if not REDIS_URL:
    for folder in ("queue", "control"):
        (VAR_DIR / "broker" / folder).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(VAR_DIR / "broker" / "queue"),
        "data_folder_out": str(VAR_DIR / "broker" / "queue"),
        "control_folder": str(VAR_DIR / "broker" / "control"),
        "polling_interval": 0.1,
    }

# --- The lab itself ----------------------------------------------------------------------------
LOCAL_HOST_KEY = env.str("CLEANPASS_HOST", default="this-machine")
HEARTBEAT_INTERVAL_S = env.float("CLEANPASS_HEARTBEAT_S", default=2.0)
HEARTBEAT_STALE_S = env.float("CLEANPASS_HEARTBEAT_STALE_S", default=15.0)
RING_AGAIN_S = env.float("CLEANPASS_RING_AGAIN_S", default=10.0)

# --- People ------------------------------------------------------------------------------------
AUTH_USER_MODEL = "people.User"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "inventory"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("CLEANPASS_HTTPS", default=False)
SESSION_COOKIE_HTTPONLY = True

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# The one who asks may decide as well; every decision made under it says so.
SINGLE_PERSON_MODE = env.bool("CLEANPASS_SINGLE_PERSON", default=False)

PUBLIC_URL = env.str("CLEANPASS_PUBLIC_URL", default="").rstrip("/")  # for links in webhooks

# --- REST API ----------------------------------------------------------------------------------
API_RATES = {
    "ask": env.str("CLEANPASS_API_RATE", default="600/min"),
    "change": env.str("CLEANPASS_API_CHANGE_RATE", default="60/min"),
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "people.rest.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["people.rest.authentication.SignedIn"],
    "DEFAULT_THROTTLE_CLASSES": [
        "people.rest.throttles.Asking",
        "people.rest.throttles.Changing",
    ],
    "DEFAULT_PAGINATION_CLASS": "people.rest.paging.Pages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "people.rest.problems.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Cleanpass",
    "DESCRIPTION": "What the pages do, for programs: the same services, so the same rules.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {"NoticeKindEnum": "verdicts.notifications.models.Kind"},
    "WEBHOOKS": ["verdicts.notifications.api.notice_webhook"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "people.rest.schema.add_problems",
    ],
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = DEBUG

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{levelname:<7} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": env.str("CLEANPASS_LOG_LEVEL", default="INFO")},
    "loggers": {"httpx": {"level": "WARNING"}},
}
