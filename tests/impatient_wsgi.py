"""The application of the web server, with a deadline for uploads that a test can wait for."""

from webapp import wsgi

application = wsgi.application  # Django is set up now

from webapp.register.trial import uploads  # noqa: E402

uploads.UPLOAD_TIMEOUT_S = 1
