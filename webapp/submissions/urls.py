"""Addresses of this app."""

from django.urls import URLPattern, URLResolver, path

from webapp.submissions import (
    certificate_requests,
    changes,
    hidden_files,
    links,
    own_withdrawal,
    queue,
    review,
    run_facts,
    stored_files,
    takedowns,
    views,
)
from webapp.submissions.drafts import tus
from webapp.submissions.drafts import views as drafts
from webapp.submissions.objections import filing as objection_filing
from webapp.submissions.objections import replies
from webapp.submissions.objections import review as objection_review
from webapp.submissions.products import makers
from webapp.submissions.products import pages as products

urlpatterns: list[URLPattern | URLResolver] = [
    path("submit/", drafts.submit, name="submit"),
    path("submit/<slug:public_id>/", drafts.draft, name="draft"),
    path("submit/<slug:public_id>/state/", drafts.reading_state, name="draft-state"),
    path("submit/<slug:public_id>/slices/", drafts.change_slices, name="draft-slices"),
    path("submit/<slug:public_id>/delete/", drafts.delete, name="draft-delete"),
    path("uploads/", tus.uploads, name="upload-list"),
    path("uploads/<slug:key>/", tus.upload, name="upload"),
    path("submissions/", views.submission_list, name="submission-list"),
    path("submissions/review/", queue.review_list, name="review-list"),
    path("submissions/certificate-requests/", certificate_requests.request_list, name="certificate-request-list"),
    path(
        "submissions/certificate-requests/<slug:public_id>/",
        certificate_requests.request_detail,
        name="certificate-request",
    ),
    path("review/runs/<slug:public_id>/", review.run_review, name="run-review"),
    path("review/runs/<slug:public_id>/<slug:act>/", review.act_on_run, name="run-act"),
    path("review/makers/", makers.maker_list, name="maker-list"),
    path("review/makers/<int:maker_id>/remove/", makers.remove_maker, name="maker-remove"),
    path("review/products/", products.product_list, name="product-review-list"),
    path("review/products/<slug:slug>/", products.product_review, name="product-review"),
    path("review/products/<slug:slug>/<slug:act>/", products.act_on_product, name="product-act"),
    path("objections/new/<slug:public_id>/", objection_filing.object_to_run, name="objection-new"),
    path("objections/<slug:public_id>/withdraw/", objection_filing.withdraw_own, name="objection-withdraw"),
    path("review/objections/<slug:public_id>/", objection_review.objection_review, name="objection-review"),
    path("review/objections/<slug:public_id>/<slug:act>/", objection_review.act_on_objection, name="objection-act"),
    path("takedowns/", takedowns.takedown_list, name="takedown-list"),
    path("takedowns/<int:takedown_id>/<slug:act>/", takedowns.act_on_takedown, name="takedown-act"),
    path("stored-files/", stored_files.stored_files, name="stored-files"),
    path("hidden-files/", hidden_files.hidden_file_list, name="hidden-file-list"),
    path("hidden-files/<int:hiding_id>/file/", hidden_files.download, name="hidden-file-download"),
    path("hidden-files/<int:hiding_id>/end/", hidden_files.end, name="hidden-file-end"),
    path("submissions/<slug:public_id>/", views.submission_detail, name="submission-detail"),
    path("submissions/<slug:public_id>/slices/", changes.change_slices, name="submission-slices"),
    path("submissions/<slug:public_id>/embargo/", changes.move_embargo, name="submission-embargo"),
    path("submissions/<slug:public_id>/link/", links.renew, name="submission-link"),
    path("submissions/<slug:public_id>/link/revoke/", links.revoke, name="submission-link-revoke"),
    path("submissions/<slug:public_id>/hide-file/", hidden_files.hide, name="submission-hide-file"),
    path("submissions/<slug:public_id>/own-withdrawal/", own_withdrawal.withdraw, name="submission-withdraw"),
    path("submissions/<slug:public_id>/run-facts/", run_facts.change_facts, name="submission-run-facts"),
    path("submissions/<slug:public_id>/own-return/", own_withdrawal.return_to_review, name="submission-return"),
    path("submissions/<slug:public_id>/answer/", changes.answer_question, name="submission-answer"),
    path("submissions/<slug:public_id>/objection-reply/", replies.reply_to_one, name="objection-reply"),
    path("submissions/<slug:public_id>/annotation-reply/", replies.reply_below, name="annotation-reply"),
    path("submissions/<slug:public_id>/<slug:decision>/", review.decide, name="submission-decide"),
]
