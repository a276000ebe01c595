"""Addresses of this app."""

from django.urls import URLPattern, URLResolver, path

from webapp.submissions import changes, review, views
from webapp.submissions.products import pages as products

urlpatterns: list[URLPattern | URLResolver] = [
    path("submit/", views.submit, name="submit"),
    path("submissions/", views.submission_list, name="submission-list"),
    path("submissions/review/", review.review_list, name="review-list"),
    path("review/runs/<slug:public_id>/", review.run_review, name="run-review"),
    path("review/runs/<slug:public_id>/<slug:act>/", review.act_on_run, name="run-act"),
    path("review/products/", products.product_list, name="product-review-list"),
    path("review/products/<slug:slug>/", products.product_review, name="product-review"),
    path("review/products/<slug:slug>/<slug:act>/", products.act_on_product, name="product-act"),
    path("submissions/<slug:public_id>/", views.submission_detail, name="submission-detail"),
    path("submissions/<slug:public_id>/slices/", changes.change_slices, name="submission-slices"),
    path("submissions/<slug:public_id>/embargo/", changes.move_embargo, name="submission-embargo"),
    path("submissions/<slug:public_id>/<slug:decision>/", review.decide, name="submission-decide"),
]
