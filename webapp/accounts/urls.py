"""Addresses of this app."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, path

from webapp.accounts import views

LOGIN = "accounts/login.html"

urlpatterns: list[URLPattern | URLResolver] = [
    # Public pages are the same for everyone: their link to sign in leads who has done so to what is theirs.
    path("login/", LoginView.as_view(template_name=LOGIN, redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(next_page="/"), name="logout"),
    path("tokens/", views.tokens, name="token-list"),
    path("tokens/<int:token_id>/revoke/", views.revoke_token, name="token-revoke"),
]
