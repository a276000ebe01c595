"""Addresses of the lab in the API."""

from django.urls import URLPattern, URLResolver, path

from webapp.api.lab import campaigns, dispatches, inventory

urlpatterns: list[URLPattern | URLResolver] = [
    path("hosts/", inventory.HostList.as_view(), name="api-lab-host-list"),
    path("hosts/<slug:name>/", inventory.HostDetail.as_view(), name="api-lab-host-detail"),
    path("hosts/<slug:name>/leftovers/", inventory.HostLeftovers.as_view(), name="api-lab-host-leftovers"),
    path("devices/", inventory.DeviceList.as_view(), name="api-lab-device-list"),
    path("devices/<int:device_id>/", inventory.DeviceDetail.as_view(), name="api-lab-device-detail"),
    path("dispatches/", dispatches.DispatchList.as_view(), name="api-lab-dispatch-list"),
    path("dispatches/<slug:public_id>/", dispatches.DispatchDetail.as_view(), name="api-lab-dispatch-detail"),
    path(
        "dispatches/<slug:public_id>/cancel/", dispatches.DispatchCancellation.as_view(), name="api-lab-dispatch-cancel"
    ),
    path("campaigns/", campaigns.CampaignList.as_view(), name="api-lab-campaign-list"),
    path("campaigns/<slug:public_id>/", campaigns.CampaignDetail.as_view(), name="api-lab-campaign-detail"),
    path("campaigns/<slug:public_id>/pause/", campaigns.CampaignPause.as_view(), name="api-lab-campaign-pause"),
    path("campaigns/<slug:public_id>/resume/", campaigns.CampaignResumption.as_view(), name="api-lab-campaign-resume"),
    path(
        "campaigns/<slug:public_id>/cancel/", campaigns.CampaignCancellation.as_view(), name="api-lab-campaign-cancel"
    ),
]
