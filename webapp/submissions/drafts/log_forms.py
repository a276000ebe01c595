"""The facts of each log of an archive whose logs are of several drives: one form for each, and one for all of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from results.intake.submissions import SubmissionMetadata
from webapp.submissions.forms import DriveStateForm, IdentityForm, MinuteField

NAMED = ("category", "vendor", "model")  # without these three, a log has the drive of the log before it
SHARED = ("notes", "embargo_until")
LOST = (
    "Without category, vendor and model, this log has the drive of the log above, with all facts stated there. Enter "
    "these three for a drive of its own, or leave this field as it was."
)


class LogForm(IdentityForm, DriveStateForm):
    """The drive of one log."""

    def __init__(self, name: str, *args: Any, is_first: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["notes"]  # it holds for all logs
        self.name, self.is_first = name, is_first
        self.fields["vendor"].widget.attrs["list"] = "makers"
        self.fields["model"].widget.attrs["list"] = "models"
        if not is_first:
            for field in NAMED:
                self.fields[field].required = False

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        missing = [name for name in NAMED if not cleaned.get(name) and name not in self.errors]
        if not self.is_first and 0 < len(missing) < len(NAMED):
            for name in missing:
                self.add_error(name, "Enter this fact, or leave category, vendor and model empty for the drive above.")
        if not self.is_first and len(missing) == len(NAMED):
            for name in self.changed_data:
                if cleaned.get(name) not in self.fields[name].empty_values:
                    self.add_error(name, LOST)
        return cleaned

    @property
    def is_inherited(self) -> bool:
        """Return whether the log has the drive of the log before it."""
        return not self.is_first and not any(self.cleaned_data[name] for name in NAMED)


class SharedForm(forms.Form):
    """What holds for all logs of an archive."""

    notes = DriveStateForm.base_fields["notes"]
    embargo_until = MinuteField(
        label="Not public before, UTC",
        required=False,
        help_text="End of an embargo of all logs. Leave it empty if you want no embargo.",
    )


class LogForms:
    """The forms of all logs of an archive. `initial` are the facts that the files state, by the name of the log."""

    def __init__(self, initial: Mapping[str, Mapping[str, Any]], data: Mapping[str, Any] | None = None) -> None:
        self.shared = SharedForm(data)
        self.forms = [
            LogForm(name, data, prefix=f"log-{ordinal}", initial=facts, is_first=ordinal == 0)
            for ordinal, (name, facts) in enumerate(initial.items())
        ]

    def is_valid(self) -> bool:
        """Return whether all forms are, so that each shows its own errors."""
        return all([self.shared.is_valid(), *(form.is_valid() for form in self.forms)])

    @property
    def errors_count(self) -> int:
        """Return the number of fields with an error."""
        return sum(len(form.errors) for form in self._all() if form.is_bound)

    def facts(self) -> dict[str, SubmissionMetadata]:
        """Return the facts by the name of the log."""
        found: dict[str, SubmissionMetadata] = {}
        shared = {name: self.shared.cleaned_data[name] for name in SHARED}
        above: dict[str, Any] = {}
        for form in self.forms:
            above = above if form.is_inherited else form.cleaned_data
            found[form.name] = SubmissionMetadata(**above, **shared)
        return found

    def _all(self) -> Sequence[forms.Form]:
        return [self.shared, *self.forms]
