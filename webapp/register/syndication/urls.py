"""URLs of feeds, badges, sitemaps and permanent ids. They never change."""

from django.urls import URLPattern, URLResolver, path

from webapp.register.syndication import citations, feeds, images, sitemap

urlpatterns: list[URLPattern | URLResolver] = [
    path("favicon.ico", images.favicon, name="favicon"),
    path("robots.txt", sitemap.robots, name="robots"),
    path("sitemap.xml", sitemap.sitemap, name="sitemap"),
    path("sitemap-<int:number>.xml", sitemap.sitemap_part, name="sitemap-part"),
    path("feed.atom", feeds.all_feed, name="feed"),
    path("drives/<str:category>/feed.atom", feeds.category_feed, name="category-feed"),
    path("vendors/<slug:vendor>/feed.atom", feeds.vendor_feed, name="vendor-feed"),
    path("drive/<slug:slug>/feed.atom", feeds.product_feed, name="product-feed"),
    path("drive/<slug:slug>/badge.svg", images.badge, name="product-badge"),
    path("drive/<slug:slug>/picture.png", images.picture, name="product-picture"),
    path("id/<str:public_id>", citations.permanent_id, name="permanent-id"),
]
