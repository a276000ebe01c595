"""Bodies of requests that the forms of the pages check, and the reader's document as responses have it."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django import forms
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from results.reader.process import Document

BULKY = {"histograms", "slices", "series"}
Form = TypeVar("Form", bound=forms.Form)


def valid_form(kind: type[Form], request: Request) -> Form:
    """Return a form of the pages with the fields of the request. Raises ValidationError, also for unknown fields."""
    if not isinstance(request.data, Mapping):
        raise ValidationError("Expected an object with fields.")
    return valid_fields(kind, request.data)


def valid_fields(kind: type[Form], fields: Mapping[str, Any]) -> Form:
    """Return a form of the pages with some fields. Raises ValidationError, also for unknown ones."""
    stated = {name: "" if value is None else value for name, value in fields.items()}
    if unknown := sorted(set(stated) - set(kind.base_fields)):
        raise ValidationError({name: f"Expected one of {', '.join(kind.base_fields)}." for name in unknown})
    form = kind(stated)
    if not form.is_valid():
        raise ValidationError({name: [str(each) for each in errors] for name, errors in form.errors.items()})
    return form


def without_bulk(document: Document) -> Document:
    """Return the reader's document without histograms, slices and intervals."""
    runs = [{key: value for key, value in run.items() if key not in BULKY} for run in document["runs"]]
    return document | {"runs": runs}
