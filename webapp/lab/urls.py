"""URL patterns of the lab pages."""

from django.urls import URLPattern, URLResolver, path

from webapp.lab.calendar import views as calendar
from webapp.lab.campaigns import views as campaigns
from webapp.lab.devices import views as devices
from webapp.lab.dispatches import views as dispatches
from webapp.lab.drives import views as drives
from webapp.lab.hosts import views as hosts
from webapp.lab.order_templates import views as order_templates

urlpatterns: list[URLPattern | URLResolver] = [
    path("", hosts.overview, name="lab"),
    path("calendar/", calendar.calendar, name="lab-calendar"),
    path("drives/", drives.overview, name="lab-drives"),
    path("drives/campaign/", drives.order_campaigns, name="lab-drives-campaign"),
    path("templates/", order_templates.template_list, name="lab-templates"),
    path("templates/<slug:template_id>/name/", order_templates.rename, name="lab-template-rename"),
    path("templates/<slug:template_id>/remove/", order_templates.remove, name="lab-template-remove"),
    path("pause/", hosts.pause_lab, name="lab-pause"),
    path("windows/<int:window_id>/end/", hosts.end_maintenance, name="lab-window-end"),
    path("hosts/local/add/", hosts.add_this_machine, name="lab-add-this-machine"),
    path("hosts/add/", hosts.add, name="lab-host-add"),
    path("hosts/<slug:name>/", hosts.detail, name="lab-host"),
    path("hosts/<slug:name>/check/", hosts.check, name="lab-host-check"),
    path("hosts/<slug:name>/agent/code/", hosts.print_join_command, name="lab-agent-code"),
    path("hosts/<slug:name>/agent/program/", hosts.pin_own_program, name="lab-agent-program"),
    path("hosts/<slug:name>/agent/revoke/", hosts.revoke_agent, name="lab-agent-revoke"),
    path("hosts/<slug:name>/place/", hosts.place, name="lab-host-place"),
    path("hosts/<slug:name>/maintenance/", hosts.plan_maintenance, name="lab-window-plan"),
    path("hosts/<slug:name>/retire/", hosts.retire_host, name="lab-host-retire"),
    path("hosts/<slug:name>/back/", hosts.restore_host, name="lab-host-back"),
    path("hosts/<slug:name>/devices/add/", devices.identify_device, name="lab-device-find"),
    path("hosts/<slug:name>/devices/bind/", devices.bind_device, name="lab-device-bind"),
    path("devices/<int:device_id>/", devices.detail, name="lab-device"),
    path("devices/<int:device_id>/look/", devices.refresh, name="lab-device-look"),
    path("devices/<int:device_id>/prepare/", dispatches.prepare, name="lab-prepare"),
    path("devices/<int:device_id>/label/", devices.rename, name="lab-device-rename"),
    path("devices/<int:device_id>/retire/", devices.retire_device, name="lab-device-retire"),
    path("devices/<int:device_id>/back/", devices.restore_device, name="lab-device-back"),
    path("devices/<int:device_id>/ycsb/", dispatches.order_ycsb, name="lab-ycsb-order"),
    path("devices/<int:device_id>/order/", dispatches.order_run, name="lab-order"),
    path("dispatches/<slug:public_id>/", dispatches.detail, name="dispatch-detail"),
    path("dispatches/<slug:public_id>/live/", dispatches.live, name="dispatch-live"),
    path("dispatches/<slug:public_id>/cancel/confirm/", dispatches.confirm_cancel, name="dispatch-cancel-confirm"),
    path("dispatches/<slug:public_id>/cancel/", dispatches.cancel_dispatch, name="dispatch-cancel"),
    path("dispatches/<slug:public_id>/ended/", dispatches.declare_ended, name="dispatch-declare-ended"),
    path("dispatches/<slug:public_id>/fetch/", dispatches.archive_leftovers, name="dispatch-fetch"),
    path("dispatches/<slug:public_id>/retry/confirm/", dispatches.confirm_retry, name="dispatch-retry-confirm"),
    path("dispatches/<slug:public_id>/retry/", dispatches.retry_dispatch, name="dispatch-retry"),
    path("devices/<int:device_id>/campaign/", campaigns.order_campaign, name="campaign-order"),
    path("campaigns/", campaigns.campaign_list, name="campaign-list"),
    path("campaigns/<slug:public_id>/", campaigns.detail, name="campaign-detail"),
    path("campaigns/<slug:public_id>/ladder.json", campaigns.ladder_json, name="campaign-ladder-json"),
    path("campaigns/<slug:public_id>/live/", campaigns.live, name="campaign-live"),
    path("campaigns/<slug:public_id>/pause/", campaigns.pause_campaign, name="campaign-pause"),
    path("campaigns/<slug:public_id>/resume/", campaigns.resume_campaign, name="campaign-resume"),
    path("campaigns/<slug:public_id>/cancel/confirm/", campaigns.confirm_cancel, name="campaign-cancel-confirm"),
    path("campaigns/<slug:public_id>/cancel/", campaigns.cancel_campaign, name="campaign-cancel"),
    path("campaigns/<slug:public_id>/terms/", campaigns.change_terms, name="campaign-terms"),
]
