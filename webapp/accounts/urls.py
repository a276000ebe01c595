"""Addresses of this app: those of django-allauth, and the register's own."""

from django.urls import URLPattern, URLResolver, include, path

from webapp.accounts import mail, organisation_pages, views

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("allauth.urls")),
    path("", views.account, name="account"),
    path("sessions/<int:session_id>/end/", views.end_session, name="session-end"),
    path("organisation/", organisation_pages.organisation_list, name="organisation-list"),
    path("organisation/new/", organisation_pages.create, name="organisation-create"),
    path("organisations/", organisation_pages.confirmations, name="organisation-confirmations"),
    path("organisations/<slug:slug>/confirm/", organisation_pages.confirm, name="organisation-confirm"),
    path("mail/", mail.sent_mail, name="sent-mail"),
    path("tokens/", views.tokens, name="token-list"),
    path("tokens/<int:token_id>/revoke/", views.revoke_token, name="token-revoke"),
]
