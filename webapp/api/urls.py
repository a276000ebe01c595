"""Addresses of this app."""

from django.urls import URLPattern, URLResolver, include, path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from webapp.api import (
    agents,
    catalogue,
    checks,
    claims,
    documentation,
    drafts,
    figures,
    intervals,
    live,
    product_facts,
    published,
    review,
    submissions,
    trusted_publishing,
    webhooks,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("submissions/", submissions.SubmissionList.as_view(), name="api-submission-list"),
    path("submissions/<slug:public_id>/", submissions.SubmissionDetail.as_view(), name="api-submission-detail"),
    path(
        "submissions/<slug:public_id>/embargo/", submissions.SubmissionEmbargo.as_view(), name="api-submission-embargo"
    ),
    path("submissions/<slug:public_id>/review/", review.SubmissionReview.as_view(), name="api-submission-review"),
    path("submissions/<slug:public_id>/approval/", review.SubmissionApproval.as_view(), name="api-submission-approval"),
    path("submissions/<slug:public_id>/decline/", review.SubmissionDecline.as_view(), name="api-submission-decline"),
    path(
        "submissions/<slug:public_id>/questions/", review.SubmissionQuestions.as_view(), name="api-submission-questions"
    ),
    path("submissions/<slug:public_id>/answer/", review.SubmissionAnswer.as_view(), name="api-submission-answer"),
    path("review/", review.ReviewQueue.as_view(), name="api-review-queue"),
    path("drafts/", drafts.DraftList.as_view(), name="api-draft-list"),
    path("drafts/<slug:public_id>/", drafts.DraftDetail.as_view(), name="api-draft-detail"),
    path("drafts/<slug:public_id>/submit/", drafts.DraftSubmission.as_view(), name="api-draft-submission"),
    path("runs/", catalogue.RunList.as_view(), name="api-run-list"),
    path("runs/<slug:public_id>/", catalogue.RunDetail.as_view(), name="api-run-detail"),
    path("runs/<slug:public_id>/intervals/", intervals.RunIntervals.as_view(), name="api-run-intervals"),
    path("products/", catalogue.ProductList.as_view(), name="api-product-list"),
    path("products/<slug:slug>/", catalogue.ProductDetail.as_view(), name="api-product-detail"),
    path("products/<slug:slug>/facts/", product_facts.ProductFacts.as_view(), name="api-product-facts"),
    path(
        "products/<slug:slug>/list-prices/", product_facts.ProductListPrices.as_view(), name="api-product-list-prices"
    ),
    path("figures/", figures.FigureList.as_view(), name="api-figure-list"),
    path("landscape/", figures.Landscape.as_view(), name="api-landscape"),
    path("sizing/", figures.Sizing.as_view(), name="api-sizing"),
    path("claims/", claims.ClaimList.as_view(), name="api-claim-list"),
    path("claims/<slug:publication>/<slug:name>/", claims.ClaimDetail.as_view(), name="api-claim-detail"),
    path("published-figures/", published.PublishedFigureList.as_view(), name="api-published-figure-list"),
    path("ycsb/loads/<slug:key>/", published.YcsbLoad.as_view(), name="api-ycsb-load"),
    path("news/", published.News.as_view(), name="api-news"),
    path("objections/", published.ObjectionList.as_view(), name="api-objection-list"),
    path("certificates/latest/", catalogue.LatestCertificate.as_view(), name="api-certificate-latest"),
    path("certificates/", catalogue.CertificateList.as_view(), name="api-certificate-list"),
    path("certificates/<slug:public_id>/", catalogue.CertificateDetail.as_view(), name="api-certificate-detail"),
    path("trusted-publishing/", trusted_publishing.TrustedPublishing.as_view(), name="api-trusted-publishing"),
    path("validate/", checks.Validation.as_view(), name="api-validate"),
    path("check/", checks.FleetCheck.as_view(), name="api-check"),
    path("live/submissions/<slug:public_id>/", live.LiveSubmission.as_view(), name="api-live-submission"),
    path("live/lab/dispatches/<slug:public_id>/", live.LiveDispatch.as_view(), name="api-live-dispatch"),
    path("live/lab/campaigns/<slug:public_id>/", live.LiveCampaign.as_view(), name="api-live-campaign"),
    path("live/agents/exchanges/", live.LiveAgentExchanges.as_view(), name="api-live-agent-exchanges"),
    path("agents/", agents.AgentList.as_view(), name="api-agent-list"),
    path("agents/exchanges/", agents.AgentExchangeList.as_view(), name="api-agent-exchange-list"),
    path("agents/exchanges/<slug:public_id>/", agents.AgentExchangeDetail.as_view(), name="api-agent-exchange-detail"),
    path("agents/program/", agents.AgentProgram.as_view(), name="api-agent-program"),
    path("agents/program/<slug:sha256>/", agents.AgentProgramVersion.as_view(), name="api-agent-program-version"),
    path("webhooks/", webhooks.WebhookList.as_view(), name="api-webhook-list"),
    path("webhooks/<slug:public_id>/", webhooks.WebhookDetail.as_view(), name="api-webhook-detail"),
    path("webhooks/<slug:public_id>/trial/", webhooks.WebhookTrial.as_view(), name="api-webhook-trial"),
    path("webhooks/<slug:public_id>/replay/", webhooks.WebhookReplay.as_view(), name="api-webhook-replay"),
    path("webhooks/<slug:public_id>/deliveries/", webhooks.DeliveryList.as_view(), name="api-delivery-list"),
    path(
        "webhooks/<slug:public_id>/deliveries/<slug:delivery_id>/replay/",
        webhooks.DeliveryReplay.as_view(),
        name="api-delivery-replay",
    ),
    path("lab/", include("webapp.api.lab.urls")),
    path("schema/", SpectacularJSONAPIView.as_view(), name="api-schema"),
    path("docs/", documentation.docs, name="api-docs"),
    re_path("", documentation.Unknown.as_view(), name="api-unknown"),
]
