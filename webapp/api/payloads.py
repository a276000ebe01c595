"""Bodies of requests that the forms of the pages check, and the reader's document as responses have it."""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar, cast

from django import forms
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from results.reader.process import Document

BULKY = {"histograms", "slices", "series"}
Form = TypeVar("Form", bound=forms.Form)


def stated_fields(request: Request) -> dict[str, Any]:
    """Return the fields of a request. Raises ValidationError if its body is no object."""
    if not isinstance(request.data, Mapping):
        raise ValidationError("Expected an object with fields.")
    return {name: request.data[name] for name in request.data}


def valid_form(kind: type[Form], request: Request) -> Form:
    """Return a form of the pages with the fields of the request. Raises ValidationError, also for unknown fields."""
    return valid_fields(kind, stated_fields(request))


def valid_fields(
    kind: type[Form], fields: Mapping[str, Any], initial: Mapping[str, Any] | None = None, **context: Any
) -> Form:
    """Return a form of the pages with some fields. Raises ValidationError, also for unknown ones.

    `initial` are the values that the page shows first, for forms whose checks read them; `context` are further
    arguments of the form.
    """
    stated = {name: "" if value is None else value for name, value in fields.items()}
    if unknown := sorted(set(stated) - set(kind.base_fields)):
        raise ValidationError({name: [f"Expected one of {', '.join(kind.base_fields)}."] for name in unknown})
    form = kind(stated, initial=dict(initial or {}), **context)
    if not form.is_valid():
        raise ValidationError({name: [str(each) for each in errors] for name, errors in form.errors.items()})
    return form


def fields_of_form(kind: type[forms.Form], optional: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a form of the pages, for the description of the API; the form itself validates.

    `optional` are those that a request may leave out although the page requires them.
    """
    return {
        name: _described(field, is_required=field.required and name not in optional)
        for name, field in kind.base_fields.items()
    }


def defaults_of(kind: type[forms.Form], without: Collection[str] = ()) -> dict[str, Any]:
    """Return the initial values of a form, without some fields."""
    stated = {name: field.initial for name, field in kind.base_fields.items() if field.initial is not None}
    return {name: value for name, value in stated.items() if name not in without}


def list_schema(name: str, row: Any, **more: serializers.Field[Any, Any, Any, Any]) -> Any:
    """Return the schema of a response with `results`, a list of rows, and more fields."""
    return inline_serializer(name, {**more, "results": serializers.ListField(child=row)})


def _described(field: forms.Field, *, is_required: bool) -> serializers.Field[Any, Any, Any, Any]:
    stated: dict[str, Any] = {"required": is_required, "help_text": str(field.help_text)}
    if isinstance(field, forms.MultipleChoiceField):
        return serializers.ListField(child=serializers.ChoiceField(choices=cast(Any, field.choices)), **stated)
    if isinstance(field, forms.DecimalField):
        digits: dict[str, Any] = {"max_digits": field.max_digits or 6, "decimal_places": field.decimal_places or 2}
        return serializers.DecimalField(**digits, **stated)
    kinds = {
        forms.IntegerField: serializers.IntegerField,
        forms.DateTimeField: serializers.DateTimeField,
        forms.BooleanField: serializers.BooleanField,
    }
    described: Any = next((each for kind, each in kinds.items() if isinstance(field, kind)), serializers.CharField)
    made: serializers.Field[Any, Any, Any, Any] = described(**stated)
    return made


def without_bulk(document: Document) -> Document:
    """Return the reader's document without histograms, slices and intervals."""
    runs = [{key: value for key, value in run.items() if key not in BULKY} for run in document["runs"]]
    return document | {"runs": runs}
