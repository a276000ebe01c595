"""Addresses of the lab in the API."""

from django.urls import URLPattern, URLResolver, path

from webapp.api.lab import calendar, campaigns, devices, dispatches, drives, hosts, maintenance, selection, templates

urlpatterns: list[URLPattern | URLResolver] = [
    path("hosts/", hosts.HostList.as_view(), name="api-lab-host-list"),
    path("hosts/<slug:name>/", hosts.HostDetail.as_view(), name="api-lab-host-detail"),
    path("hosts/<slug:name>/leftovers/", hosts.HostLeftovers.as_view(), name="api-lab-host-leftovers"),
    path("hosts/<slug:name>/check/", hosts.HostCheck.as_view(), name="api-lab-host-check"),
    path("hosts/<slug:name>/identify/", hosts.HostIdentification.as_view(), name="api-lab-host-identify"),
    path("hosts/<slug:name>/agent/code/", hosts.AgentCode.as_view(), name="api-lab-agent-code"),
    path("hosts/<slug:name>/agent/program/", hosts.AgentProgram.as_view(), name="api-lab-agent-program"),
    path("hosts/<slug:name>/agent/revoke/", hosts.AgentRevocation.as_view(), name="api-lab-agent-revoke"),
    path("hosts/<slug:name>/retire/", hosts.HostRetirement.as_view(), name="api-lab-host-retire"),
    path("hosts/<slug:name>/restore/", hosts.HostRestoration.as_view(), name="api-lab-host-restore"),
    path("devices/", devices.DeviceList.as_view(), name="api-lab-device-list"),
    path("devices/<int:device_id>/", devices.DeviceDetail.as_view(), name="api-lab-device-detail"),
    path("devices/<int:device_id>/refresh/", devices.DeviceRefresh.as_view(), name="api-lab-device-refresh"),
    path("devices/<int:device_id>/retire/", devices.DeviceRetirement.as_view(), name="api-lab-device-retire"),
    path("devices/<int:device_id>/restore/", devices.DeviceRestoration.as_view(), name="api-lab-device-restore"),
    path("devices/<int:device_id>/states/", drives.DeviceStates.as_view(), name="api-lab-device-states"),
    path(
        "devices/<int:device_id>/preparations/", drives.DevicePreparations.as_view(), name="api-lab-device-preparations"
    ),
    path("drives/", drives.DriveList.as_view(), name="api-lab-drive-list"),
    path("calendar/", calendar.Calendar.as_view(), name="api-lab-calendar"),
    path("dispatches/", dispatches.DispatchList.as_view(), name="api-lab-dispatch-list"),
    path("dispatches/<slug:public_id>/", dispatches.DispatchDetail.as_view(), name="api-lab-dispatch-detail"),
    path(
        "dispatches/<slug:public_id>/cancel/", dispatches.DispatchCancellation.as_view(), name="api-lab-dispatch-cancel"
    ),
    path("dispatches/<slug:public_id>/retry/", dispatches.DispatchRetry.as_view(), name="api-lab-dispatch-retry"),
    path("dispatches/<slug:public_id>/ended/", dispatches.DispatchDeclaration.as_view(), name="api-lab-dispatch-ended"),
    path("dispatches/<slug:public_id>/archive/", dispatches.DispatchArchive.as_view(), name="api-lab-dispatch-archive"),
    path("templates/", templates.TemplateList.as_view(), name="api-lab-template-list"),
    path("templates/<slug:public_id>/", templates.TemplateDetail.as_view(), name="api-lab-template-detail"),
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
