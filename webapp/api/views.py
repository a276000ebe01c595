"""The base of all views of the API: strict query parameters, and responses that a cache can check."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from types import MappingProxyType
from typing import Any

from django.utils import timezone
from django.utils.http import http_date
from django.views.decorators.http import conditional_page
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.permissions import SAFE_METHODS, AllowAny
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from webapp.api.authentication import ReadThrottle, SubmitThrottle
from webapp.api.problems import Problem
from webapp.register.http.query_params import unknown_parameter
from webapp.register.http.responses import PRIVATE, PUBLIC

CURSOR = "cursor"
ENDED = "The parameter {name} ended on {ends}. docs/reference/api.md states what to use instead."


@dataclass(frozen=True)
class Deprecation:
    """The end of a parameter: the day on which it was announced, and the day from which it is refused."""

    announced: date
    ends: date

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of RFC 9745 and RFC 8594."""
        announced, ends = (datetime.combine(day, time.min, UTC) for day in (self.announced, self.ends))
        return {"Deprecation": f"@{int(announced.timestamp())}", "Sunset": http_date(ends.timestamp())}


class View(APIView):
    """A view of the API. `parameters` are its query parameters; None for a view that refuses unknown ones itself.

    A response to GET has an ETag. A request that repeats it in If-None-Match gets 304 without a body.
    """

    parameters: Collection[str] | None = ()
    deprecated_parameters: Mapping[str, Deprecation] = MappingProxyType({})

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        return conditional_page(super().as_view(**initkwargs))

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise ValidationError for an unknown query parameter, after the checks of token, scope and rate."""
        super().initial(request, *args, **kwargs)
        for name, deprecation in self.deprecated_parameters.items():
            if name in request.query_params and timezone.now().date() >= deprecation.ends:
                raise Problem(410, ENDED.format(name=name, ends=deprecation.ends), code="parameter-ended")
        known = self.parameters
        if known is not None:
            unknown = [unknown_parameter(name, known) for name in request.query_params if name not in known]
            if unknown:
                raise ValidationError({error.parameter: [error.sentence] for error in unknown})

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the rules for caches, and announce the end of parameters. What a token opens is for its holder alone."""
        response = super().finalize_response(request, response, *args, **kwargs)
        is_open = AllowAny in self.permission_classes and response.status_code < 400
        response.headers.setdefault("Cache-Control", PUBLIC if is_open else PRIVATE)
        for name, deprecation in self.deprecated_parameters.items():
            if name in request.query_params:
                for header, text in deprecation.headers.items():
                    response.headers[header] = text
        return response


class ReadOrChange(View):
    """A view whose safe methods count as reading, and whose others count as changes."""

    def get_throttles(self) -> list[BaseThrottle]:
        return [ReadThrottle() if self.request.method in SAFE_METHODS else SubmitThrottle()]


class ListView(View, ListAPIView[Any]):
    """A list in pages, each with a cursor to the next."""

    parameters: Collection[str] | None = (CURSOR,)


class DetailView(View, RetrieveAPIView[Any]):
    """One row by its id."""

    lookup_field = "public_id"
