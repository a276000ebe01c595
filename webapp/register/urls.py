"""Addresses of the public pages; they never change, links to them must not die."""

from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from webapp.register.compare.views import compare
from webapp.register.dumps import page
from webapp.register.views import (
    drives,
    explain,
    fleet,
    home,
    lines,
    nines,
    products,
    run_charts,
    run_files,
    runs,
    search,
    sizing,
    ycsb,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("webapp.register.out.urls")),
    path("data/", page.data, name="data"),
    path("data/<str:day>/<str:name>", page.dump_file, name="dump-file"),
    path("", home.home, name="home"),
    path("drives/", RedirectView.as_view(pattern_name="home")),
    path("drives/historical/", drives.historical, name="historical"),
    path("drives/rows.json", drives.data, name="drives-data"),
    path("drives/<str:category>/", drives.category, name="category"),
    path("compare/", compare, name="compare"),
    path("drive/<slug:slug>/", products.product, name="product"),
    path("search/", search.search_drives, name="search"),
    path("runs/<str:public_id>/", runs.detail, name="run-detail"),
    path("runs/<str:public_id>/log", runs.log, name="run-log"),
    path("runs/<str:public_id>/lines/<int:first>/", lines.lines, name="run-line"),
    path("runs/<str:public_id>/lines/<int:first>-<int:last>/", lines.lines, name="run-lines"),
    path("runs/<str:public_id>/side.jsonl", runs.side_file, name="run-side-file"),
    path("runs/<str:public_id>/companions/<str:sha256>", runs.companion, name="run-companion"),
    path("runs/<str:public_id>/earlier/<int:number>.json", runs.earlier, name="run-earlier"),
    path("runs/<str:public_id>/slices.csv", runs.slices_csv, name="run-slices"),
    path("runs/<str:public_id>/slice-chart.json", run_charts.slice_chart_json, name="run-slice-chart"),
    path("runs/<str:public_id>/over-time.json", run_charts.over_time_json, name="run-over-time"),
    path("runs/<str:public_id>/over-time.csv", run_charts.over_time_csv, name="run-over-time-csv"),
    path("runs/<str:public_id>/telemetry.<str:form>", run_charts.telemetry, name="run-telemetry"),
    path("runs/<str:public_id>/histograms.<str:form>", run_files.histograms, name="run-histograms"),
    path("runs/<str:public_id>/again.conf", run_files.configuration, name="run-configuration"),
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
