"""Addresses of the public pages; they never change, links to them must not die."""

from django.urls import path
from django.views.generic import RedirectView

from webapp.register.views import drives, home, lines, runs, search

urlpatterns = [
    path("", home.home, name="home"),
    path("drives/", RedirectView.as_view(pattern_name="home")),
    path("drives/historical/", drives.historical, name="historical"),
    path("drives/rows.json", drives.data, name="drives-data"),
    path("drives/<str:category>/", drives.category, name="category"),
    path("search/", search.search_drives, name="search"),
    path("drive/<slug:slug>/", drives.product, name="product"),
    path("runs/<str:public_id>/", runs.detail, name="run-detail"),
    path("runs/<str:public_id>/log", runs.log, name="run-log"),
    path("runs/<str:public_id>/lines/<int:first>/", lines.lines, name="run-line"),
    path("runs/<str:public_id>/lines/<int:first>-<int:last>/", lines.lines, name="run-lines"),
    path("runs/<str:public_id>/side.jsonl", runs.side_file, name="run-side-file"),
    path("runs/<str:public_id>/companions/<str:sha256>", runs.companion, name="run-companion"),
    path("runs/<str:public_id>/earlier/<int:number>.json", runs.earlier, name="run-earlier"),
    path("runs/<str:public_id>/slices.csv", runs.slices_csv, name="run-slices"),
    path("runs/<str:public_id>/status-lines.csv", runs.status_lines_csv, name="run-status-lines"),
]
