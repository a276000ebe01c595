"""What was asked and not understood, given back as fields, so that one slip loses nothing that was typed."""

from dataclasses import dataclass

from django.http import HttpRequest

from webapp.register.http.parameter_errors import ParameterError

FIELDS_AT_MOST = 60
TYPED_AT_MOST = 400  # characters of a field; what is longer was not typed by hand


@dataclass(frozen=True)
class TypedField:
    """One parameter as it was given; `error` says what its field expects, empty where nothing is wrong."""

    name: str
    text: str
    error: str = ""


def typed_fields(request: HttpRequest, refused: ParameterError) -> list[TypedField]:
    """Return what a query gave, without parameters that the page does not have; none where it gave nothing."""
    pairs = [(name, text) for name, texts in request.GET.lists() for text in texts]
    is_gone = refused.is_unknown
    kept = [(name, text) for name, text in pairs if text and not (is_gone and name == refused.parameter)]
    return [
        TypedField(name, text[:TYPED_AT_MOST], refused.expected if name == refused.parameter else "")
        for name, text in kept[:FIELDS_AT_MOST]
    ]
