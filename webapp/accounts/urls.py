"""Addresses of this app: those of django-allauth, and the register's own."""

from django.urls import URLPattern, URLResolver, include, path

from webapp.accounts import mail, organisation_pages, quotas, views
from webapp.accounts.audit import pages as audit_pages
from webapp.accounts.memberships import invitation_pages
from webapp.accounts.memberships import pages as member_pages
from webapp.accounts.privacy import pages as privacy_pages
from webapp.accounts.publishers import pages as publisher_pages
from webapp.accounts.tokens import pages as token_pages

MEMBERS = "organisations/<slug:slug>/members/"
INVITATION = "organisations/<slug:slug>/invitations/<int:invitation_id>/"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("allauth.urls")),
    path("", views.account, name="account"),
    path("sessions/<int:session_id>/end/", views.end_session, name="session-end"),
    path("events/", audit_pages.own_events, name="account-events"),
    path("data/", privacy_pages.own_data, name="own-data"),
    path("data/export.json", privacy_pages.export, name="data-export"),
    path("close/", privacy_pages.close, name="account-close"),
    path("organisation/", organisation_pages.organisation_list, name="organisation-list"),
    path("organisation/new/", organisation_pages.create, name="organisation-create"),
    path("organisations/", organisation_pages.confirmations, name="organisation-confirmations"),
    path("organisations/<slug:slug>/confirm/", organisation_pages.confirm, name="organisation-confirm"),
    path("organisations/<slug:slug>/events/", audit_pages.organisation_events, name="organisation-events"),
    path("organisations/<slug:slug>/quotas/", quotas.organisation_quotas, name="organisation-quotas"),
    path("organisations/<slug:slug>/leave/", member_pages.leave, name="organisation-leave"),
    path("organisations/<slug:slug>/transfer/", member_pages.transfer, name="ownership-transfer"),
    path("organisations/<slug:slug>/tokens/", token_pages.machine_token_list, name="machine-token-list"),
    path(
        "organisations/<slug:slug>/tokens/<int:token_id>/revoke/",
        token_pages.revoke_machine_token,
        name="machine-token-revoke",
    ),
    path("organisations/<slug:slug>/publishers/", publisher_pages.publisher_list, name="publisher-list"),
    path(
        "organisations/<slug:slug>/publishers/<int:publisher_id>/end/",
        publisher_pages.end_publisher,
        name="publisher-end",
    ),
    path(MEMBERS, member_pages.member_list, name="member-list"),
    path(f"{MEMBERS}<int:user_id>/role/", member_pages.change_role, name="member-role"),
    path(f"{MEMBERS}<int:user_id>/remove/", member_pages.remove_member, name="member-remove"),
    path(f"{INVITATION}renew/", member_pages.renew_invitation, name="invitation-renew"),
    path(f"{INVITATION}revoke/", member_pages.revoke_invitation, name="invitation-revoke"),
    path("invitation/", invitation_pages.invitation, name="invitation"),
    path("invitation/<int:invitation_id>/accept/", invitation_pages.accept_invitation, name="invitation-accept"),
    path("invitation/<int:invitation_id>/decline/", invitation_pages.decline_invitation, name="invitation-decline"),
    path("invitation/<str:secret>/", invitation_pages.invitation_link, name="invitation-link"),
    path("mail/", mail.sent_mail, name="sent-mail"),
    path("tokens/", token_pages.token_list, name="token-list"),
    path("tokens/<int:token_id>/revoke/", token_pages.revoke_token, name="token-revoke"),
]
