"""Moving or ending the embargo of a submission: what its page does, for scripts."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import FormParser, JSONParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from results.errors import ReviewRefusedError
from results.lifecycle.embargo import change_embargo
from webapp.api.authentication import token_of
from webapp.api.problems import RefusedProblem
from webapp.api.serializers import EmbargoField, SubmissionSerializer
from webapp.api.submissions import of_sender
from webapp.api.throttles import SubmitThrottle


class EmbargoSerializer(serializers.Serializer[Any]):
    """The minute before which nothing of a submission is public; null ends its embargo at once."""

    embargo_until = EmbargoField()


class SubmissionEmbargo(APIView):
    """The embargo of one submission of the token's organisation."""

    permission_classes = [IsAuthenticated]
    parser_classes = [JSONParser, FormParser]
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Set, move or end an embargo",
        description=(
            "A whole minute within the next 366 days, or null: what is reviewed is then public at once. Refused with "
            "409 once anything of the submission has been public; each change is kept."
        ),
        request=EmbargoSerializer,
        responses=SubmissionSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Change it, and return the submission as it stands then."""
        submission = get_object_or_404(of_sender(request), public_id=public_id)
        asked = EmbargoSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            change_embargo(submission, asked.validated_data["embargo_until"], token_of(request).user)
        except ReviewRefusedError as refusal:
            raise RefusedProblem(str(refusal)) from refusal
        return Response(SubmissionSerializer(of_sender(request).get(pk=submission.pk)).data)
