"""Addresses of this app."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, path

from webapp.accounts import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("login/", LoginView.as_view(template_name="accounts/login.html"), name="login"),
    path("logout/", LogoutView.as_view(next_page="/"), name="logout"),
    path("tokens/", views.tokens, name="token-list"),
    path("tokens/<int:token_id>/revoke/", views.revoke_token, name="token-revoke"),
]
