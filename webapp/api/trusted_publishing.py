"""The endpoint of trusted publishing: a CI job exchanges its identity token for a token of an hour."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import FormParser, JSONParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from results.models import Organisation
from webapp.accounts.models import Scope
from webapp.accounts.publishers.rules import IDENTITY_CHARS, IdentityRefusedError, Refusal, exchange
from webapp.api.authentication import SubmitThrottle
from webapp.api.problems import Problem
from webapp.api.views import View
from webapp.register.http.responses import PRIVATE


class IdentitySerializer(serializers.Serializer[Any]):
    """An identity token of a CI service, and the organisation that trusts it."""

    organisation = serializers.SlugField(help_text="As in the address of the page of the organisation.")
    identity_token = serializers.CharField(max_length=IDENTITY_CHARS, help_text="A JSON Web Token.")


class ShortTokenSerializer(serializers.Serializer[Any]):
    """A token that ends soon."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()
    organisation = serializers.CharField(source="organisation.slug")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))


class TrustedPublishing(View):
    """POST exchanges an identity token for a short token."""

    authentication_classes = ()
    permission_classes = [AllowAny]
    parser_classes = [JSONParser, FormParser]
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Exchange an identity token for a token",
        description=(
            "POST returns a token with the scopes of senders that works for an hour, for an identity token (OpenID "
            "Connect) of a CI service that the organisation trusts. The issuer must have signed it for the audience "
            "that the organisation states, at most an hour ago, and it must state all claims that the organisation "
            "expects. Each identity token gets one token. A refusal has status 403; its code names the reason."
        ),
        request=IdentitySerializer,
        responses={201: ShortTokenSerializer},
    )
    def post(self, request: Request) -> Response:
        stated = IdentitySerializer(data=request.data)
        stated.is_valid(raise_exception=True)
        organisation = Organisation.objects.filter(slug=stated.validated_data["organisation"]).first()
        try:
            token, secret = exchange(organisation, stated.validated_data["identity_token"])
        except IdentityRefusedError as error:
            is_away = error.refusal == Refusal.ISSUER_AWAY
            raise Problem(503 if is_away else 403, str(error), code=error.refusal.value) from error
        shown = ShortTokenSerializer({"token": secret, "expires_at": token.expires_at, "organisation": organisation,
                                      "scopes": token.scopes}).data  # fmt: skip
        return Response(shown, 201, headers={"Cache-Control": PRIVATE})
