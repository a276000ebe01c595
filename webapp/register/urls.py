"""Addresses of the public pages; they never change, links to them must not die."""

from django.urls import path
from django.views.generic import RedirectView

from webapp.register.views import drives, explain, fleet, home, lines, nines, runs, sizing, ycsb

urlpatterns = [
    path("", home.home, name="home"),
    path("drives/", RedirectView.as_view(pattern_name="home")),
    path("drives/historical/", drives.historical, name="historical"),
    path("drives/<str:category>/", drives.category, name="category"),
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
    # YCSB and the rooms beside the tables.
    path("ycsb/", ycsb.index, name="ycsb"),
    path("ycsb/claims/", ycsb.claims, name="ycsb-claims"),
    path("ycsb/loads/<slug:key>/", ycsb.load, name="ycsb-load"),
    path("ycsb/<slug:publication>/", ycsb.publication, name="ycsb-publication"),
    path("nines/", nines.nines, name="nines"),
    path("sizing/", sizing.sizing, name="sizing"),
    path("check/", fleet.form, name="check"),
    path("check/answer/", fleet.answer, name="check-answer"),
    path("explain/", explain.reading, name="explain"),
    path("explain/rules/", explain.rules, name="explain-rules"),
    path("explain/tools/", explain.tools, name="explain-tools"),
    path("explain/submit/", explain.submitting, name="explain-submit"),
    path("explain/glossary/", explain.glossary, name="explain-glossary"),
]
