"""The forms about objections."""

from typing import Any, cast

from django import forms

from results.lifecycle.objection_filing import FILES_MAX, TEXT_CHARS_MAX, Attachment
from results.lifecycle.objections import UPHOLDING
from results.models import Objection, Organisation
from webapp.submissions.drafts.forms import SeveralFilesField

NOTE_CHARS = 5000


class ObjectionForm(forms.Form):
    """What is wrong with a result, the files that show it, and for members of several organisations which one."""

    text = forms.CharField(
        label="What is wrong, and what shows it",
        max_length=TEXT_CHARS_MAX,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="Name the figure or fact, and your evidence. Everyone reads this text after the admission.",
        error_messages={"required": "Enter what is wrong with the result, and what shows it."},
    )
    organisation = forms.ModelChoiceField(
        Organisation.objects.none(),
        label="You object as a member of",
        empty_label="Choose one",
        help_text="Everyone reads the name of the organisation, and not yours.",
        error_messages={"required": "Choose one of your organisations."},
    )
    attachments = SeveralFilesField(
        label="Attachments",
        required=False,
        allow_empty_file=True,
        max_length=255,
        files_max=FILES_MAX,
        help_text=f"At most {FILES_MAX} files. They are stored as evidence, and become public with the objection.",
    )

    def __init__(self, organisations: list[Organisation], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.organisations = organisations
        if len(organisations) < 2:
            del self.fields["organisation"]
        else:
            field = cast("forms.ModelChoiceField[Organisation]", self.fields["organisation"])
            field.queryset = Organisation.objects.filter(pk__in=[each.pk for each in organisations])

    @property
    def chosen_organisation(self) -> Organisation | None:
        """Return the organisation that the page names; None for a user without one."""
        if len(self.organisations) == 1:
            return self.organisations[0]
        return cast("Organisation | None", self.cleaned_data.get("organisation"))

    def arrived_attachments(self) -> list[Attachment]:
        """Return the files of the form."""
        return [Attachment(each.name or "attachment", each) for each in self.cleaned_data["attachments"]]


class RefusalForm(forms.Form):
    """The reason of a refusal, which is counted publicly, and a note for the filer."""

    refusal = forms.ChoiceField(label="Reason", choices=Objection.Refusal.choices)
    note = forms.CharField(
        required=False,
        max_length=NOTE_CHARS,
        widget=forms.Textarea(attrs={"rows": 3, "id": "id_refusal_note"}),
        help_text="Only the filer and reviewers read the note.",
    )


class OutcomeForm(forms.Form):
    """The decision about an objection, and its public reason."""

    outcome = forms.ChoiceField(
        label="Decision",
        choices=[
            ("uphold", [(each.value, f"Uphold: {each.label}") for each in Objection.Outcome if each in UPHOLDING]),
            ("reject", [(each.value, f"Reject: {each.label}") for each in Objection.Outcome if each not in UPHOLDING]),
        ],
    )
    note = forms.CharField(
        label="Reason",
        max_length=NOTE_CHARS,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Everyone reads the reason.",
        error_messages={"required": "Enter the reason of the decision. Everyone reads it."},
    )


class ReplyForm(forms.Form):
    """The public reply of the organisation that submitted the result, to an objection or an annotation."""

    reply = forms.CharField(
        max_length=NOTE_CHARS,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Everyone reads the reply. Your organisation replies once, and cannot change it.",
        error_messages={"required": "Enter the text of the reply."},
    )
