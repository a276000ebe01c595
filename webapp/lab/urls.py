"""Addresses of this app."""

from django.urls import URLPattern, URLResolver, path

from webapp.lab import device_page, devices, dispatches, hosts, overview

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.lab, name="lab"),
    path("hosts/local/add/", overview.add_this_machine, name="lab-add-this-machine"),
    path("hosts/add/", hosts.add, name="lab-host-add"),
    path("hosts/<slug:name>/", hosts.detail, name="lab-host"),
    path("hosts/<slug:name>/check/", hosts.check, name="lab-host-check"),
    path("hosts/<slug:name>/devices/add/", devices.find, name="lab-device-find"),
    path("hosts/<slug:name>/devices/bind/", devices.bind_found, name="lab-device-bind"),
    path("devices/<int:device_id>/", device_page.detail, name="lab-device"),
    path("devices/<int:device_id>/prepare/", device_page.prepare, name="lab-prepare"),
    path("devices/<int:device_id>/ycsb/", device_page.order_ycsb, name="lab-ycsb-order"),
    path("devices/<int:device_id>/order/", dispatches.order_run, name="lab-order"),
    path("dispatches/<slug:public_id>/", dispatches.detail, name="dispatch-detail"),
    path("dispatches/<slug:public_id>/live/", dispatches.live, name="dispatch-live"),
    path("dispatches/<slug:public_id>/cancel/", dispatches.cancel_dispatch, name="dispatch-cancel"),
]
