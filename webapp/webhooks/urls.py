"""Addresses of this app."""

from django.urls import URLPattern, path

from webapp.webhooks import pages

WEBHOOKS = "accounts/organisations/<slug:slug>/webhooks/"
WEBHOOK = f"{WEBHOOKS}<slug:public_id>/"

urlpatterns: list[URLPattern] = [
    path(WEBHOOKS, pages.webhook_list, name="webhook-list"),
    path(WEBHOOK, pages.webhook_detail, name="webhook-detail"),
    path(f"{WEBHOOK}trial/", pages.try_webhook, name="webhook-trial"),
    path(f"{WEBHOOK}end/", pages.end_webhook, name="webhook-end"),
    path(f"{WEBHOOK}replay/", pages.replay_dead, name="webhook-replay"),
    path(f"{WEBHOOK}deliveries/<slug:delivery_id>/replay/", pages.replay_delivery, name="delivery-replay"),
]
