"""Addresses of the public pages; they never change, links to them must not die."""

from django.urls import URLPattern, path

from webapp.register.about import views as about_views
from webapp.register.certificates import views as certificates_views
from webapp.register.compare.views import compare
from webapp.register.drives import views as drives_views
from webapp.register.dumps import views as dumps_views
from webapp.register.explain import views as explain_views
from webapp.register.fleet import views as fleet_views
from webapp.register.home import views as home_views
from webapp.register.news import views as news_views
from webapp.register.nines import views as nines_views
from webapp.register.objections import views as objections_views
from webapp.register.product_pages import views as product_views
from webapp.register.runs import downloads
from webapp.register.runs import views as runs_views
from webapp.register.runs.charts import views as charts_views
from webapp.register.search import views as search_views
from webapp.register.sizing import views as sizing_views
from webapp.register.syndication import badge_images, citations, feeds, sitemap
from webapp.register.trial import views as trial_views
from webapp.register.ycsb import views as ycsb_views
from webapp.register.ycsb.claims import views as claims_views

urlpatterns: list[URLPattern] = [
    # Feeds, badges, sitemaps and permanent ids.
    path("favicon.ico", badge_images.favicon, name="favicon"),
    path("robots.txt", sitemap.robots, name="robots"),
    path("sitemap.xml", sitemap.sitemap, name="sitemap"),
    path("sitemap-<int:number>.xml", sitemap.sitemap_part, name="sitemap-part"),
    path("feed.atom", feeds.all_feed, name="feed"),
    path("news/feed.atom", feeds.news_feed, name="news-feed"),
    path("drives/<str:category>/feed.atom", feeds.category_feed, name="category-feed"),
    path("vendors/<slug:vendor>/feed.atom", feeds.vendor_feed, name="vendor-feed"),
    path("drive/<slug:slug>/feed.atom", feeds.product_feed, name="product-feed"),
    path("drive/<slug:slug>/badge.svg", badge_images.badge, name="product-badge"),
    path("drive/<slug:slug>/picture.png", badge_images.picture, name="product-picture"),
    path("id/<str:public_id>", citations.permanent_id, name="permanent-id"),
    # Pages and files.
    path("data/", dumps_views.data, name="data"),
    path("data/<str:day>/<str:name>", dumps_views.dump_file, name="dump-file"),
    path("", home_views.home, name="home"),
    path("drives/", drives_views.all_categories, name="drives"),
    path("drives/historical/", drives_views.historical, name="historical"),
    path("drives/rows.json", drives_views.data, name="drives-data"),
    path("drives/<str:category>/", drives_views.category, name="category"),
    path("drives/<str:category>/landscape.png", drives_views.landscape_picture, name="category-picture"),
    path("compare/", compare, name="compare"),
    path("drive/<slug:slug>/", product_views.product, name="product"),
    path("search/", search_views.search, name="search"),
    path("search/names.json", search_views.names, name="search-names"),
    path("certificates/<str:public_id>/", certificates_views.certificate, name="certificate"),
    path("runs/<str:public_id>/", runs_views.detail, name="run-detail"),
    path("runs/<str:public_id>/log", downloads.log, name="run-log"),
    path("runs/<str:public_id>/lines/<int:first>/", runs_views.lines, name="run-line"),
    path("runs/<str:public_id>/lines/<int:first>-<int:last>/", runs_views.lines, name="run-lines"),
    path("runs/<str:public_id>/side.jsonl", downloads.side_file, name="run-side-file"),
    path("runs/<str:public_id>/companions/<str:sha256>", downloads.companion, name="run-companion"),
    path("runs/<str:public_id>/earlier/<int:number>.json", downloads.earlier, name="run-earlier"),
    path("runs/<str:public_id>/slices.csv", downloads.slices_csv, name="run-slices"),
    path("runs/<str:public_id>/slices/<int:number>/", runs_views.slice_counts, name="run-slice"),
    path("runs/<str:public_id>/slice-chart.json", charts_views.slice_chart_json, name="run-slice-chart"),
    path("runs/<str:public_id>/over-time.json", charts_views.over_time, {"form": "json"}, name="run-over-time"),
    path("runs/<str:public_id>/over-time.csv", charts_views.over_time, {"form": "csv"}, name="run-over-time-csv"),
    path("runs/<str:public_id>/rates.csv", charts_views.over_time, {"form": "rates"}, name="run-rates-csv"),
    path("runs/<str:public_id>/telemetry.<str:form>", charts_views.telemetry, name="run-telemetry"),
    path("runs/<str:public_id>/histograms.<str:form>", downloads.histograms, name="run-histograms"),
    path("runs/<str:public_id>/again.conf", downloads.configuration, name="run-configuration"),
    path("runs/<str:public_id>/status-lines.csv", downloads.status_lines_csv, name="run-status-lines"),
    path("objections/", objections_views.objection_list, name="objection-list"),
    path("objections/<str:public_id>/", objections_views.objection, name="objection"),
    path("objections/<str:public_id>/files/<str:sha256>", objections_views.objection_file, name="objection-file"),
    # YCSB, and the pages other than tables.
    path("ycsb/", ycsb_views.index, name="ycsb"),
    path("claims/", claims_views.short_address, name="claims"),
    path("ycsb/claims/", claims_views.claims, name="ycsb-claims"),
    path("ycsb/claims/<slug:publication>/<slug:name>/", claims_views.claim, name="ycsb-claim"),
    path("ycsb/claims/<slug:publication>/<slug:name>/share.png", claims_views.picture, name="ycsb-claim-picture"),
    path("ycsb/impossible/", ycsb_views.impossible, name="ycsb-impossible"),
    path("ycsb/loads/<slug:key>/", ycsb_views.load, name="ycsb-load"),
    path("ycsb/<slug:publication>/", ycsb_views.publication, name="ycsb-publication"),
    path("news/", news_views.news, name="news"),
    path("news/<str:code>/", news_views.month, name="news-month"),
    path("about/", about_views.about, name="about"),
    path("nines/", nines_views.nines, name="nines"),
    path("sizing/", sizing_views.sizing, name="sizing"),
    path("check/", fleet_views.form, name="check"),
    path("check/answer/", fleet_views.answer, name="check-answer"),
    path("try/", trial_views.try_log, name="try"),
    path("explain/", explain_views.reading, name="explain"),
    path("explain/rules/", explain_views.rules, name="explain-rules"),
    path("explain/tools/", explain_views.tools, name="explain-tools"),
    path("explain/generator/", explain_views.generator, name="explain-generator"),
    path("explain/submit/", explain_views.submitting, name="explain-submit"),
    path("explain/glossary/", explain_views.glossary, name="explain-glossary"),
]
