"""The address of the status page."""

from django.urls import path

from webapp.status.views import status

urlpatterns = [path("status/", status, name="status")]
