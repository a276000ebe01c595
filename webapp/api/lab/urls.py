"""Addresses of the lab in the API."""

from django.urls import URLPattern, URLResolver, path

from webapp.api.lab import campaigns, dispatches, inventory, maintenance, selection

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
    path("dispatches/<slug:public_id>/retry/", dispatches.DispatchRetry.as_view(), name="api-lab-dispatch-retry"),
    path("dispatches/<slug:public_id>/ended/", dispatches.DispatchDeclaration.as_view(), name="api-lab-dispatch-ended"),
    path("dispatches/<slug:public_id>/archive/", dispatches.DispatchArchive.as_view(), name="api-lab-dispatch-archive"),
    path("maintenance/", maintenance.WindowList.as_view(), name="api-lab-window-list"),
    path("maintenance/<int:window_id>/end/", maintenance.WindowEnd.as_view(), name="api-lab-window-end"),
    path("campaigns/<slug:public_id>/terms/", campaigns.CampaignTerms.as_view(), name="api-lab-campaign-terms"),
    path("selection/campaigns/", selection.SelectionCampaigns.as_view(), name="api-lab-selection-campaigns"),
    path("campaigns/", campaigns.CampaignList.as_view(), name="api-lab-campaign-list"),
    path("campaigns/<slug:public_id>/", campaigns.CampaignDetail.as_view(), name="api-lab-campaign-detail"),
    path("campaigns/<slug:public_id>/pause/", campaigns.CampaignPause.as_view(), name="api-lab-campaign-pause"),
    path("campaigns/<slug:public_id>/resume/", campaigns.CampaignResumption.as_view(), name="api-lab-campaign-resume"),
    path(
        "campaigns/<slug:public_id>/cancel/", campaigns.CampaignCancellation.as_view(), name="api-lab-campaign-cancel"
    ),
]
