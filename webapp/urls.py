"""Every address of the site; each app lists its own."""

from django.urls import include, path

from webapp.stylesheet import stylesheet

urlpatterns = [
    path("", include("webapp.register.urls")),
    path("", include("webapp.submissions.urls")),
    path("", include("webapp.notices.urls")),
    path("", include("webapp.webhooks.urls")),
    path("", include("webapp.status.urls")),
    path("accounts/", include("webapp.accounts.urls")),
    path("api/v1/", include("webapp.api.urls")),
    path("style/<str:digest>.css", stylesheet, name="stylesheet"),
    path("lab/", include("webapp.lab.urls")),
]

handler404 = "webapp.register.http.responses.page_not_found"
handler500 = "webapp.logs.error_reports.server_error"
handler429 = "webapp.accounts.throttle.too_many_requests"  # of django-allauth's own limits
