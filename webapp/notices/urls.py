"""Addresses of this app."""

from django.urls import URLPattern, URLResolver, path

from webapp.notices import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("mail/<int:user_id>/<str:signature>/", views.mail_choice, name="mail-choice"),
    path("accounts/mail/frequency/", views.change_frequency, name="mail-frequency"),
    path("accounts/mail/undelivered/", views.undelivered, name="undelivered-mail"),
    path("accounts/mail/undelivered/<int:mail_id>/retry/", views.retry, name="mail-retry"),
]
