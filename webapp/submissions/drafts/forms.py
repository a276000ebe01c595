"""The two steps of a submission: its files, then the facts that the files do not state."""

from typing import Any, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile

from results.intake.submissions import COMPANIONS_MAX, SubmissionMetadata
from results.intake.uploads import ArrivedFile
from results.models import DraftFile, Organisation
from webapp.submissions.forms import EMPTY, FACT_FIELDS, DriveStateForm, IdentityForm, MinuteField, SlicesForm
from webapp.submissions.uploads import files_complaint


class SeveralFilesInput(forms.ClearableFileInput):
    """A file field in which several files may be chosen."""

    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    """The chosen files, or none. An empty file counts as well, such as an empty stderr."""

    widget = SeveralFilesInput

    def __init__(self, *args: Any, files_max: int = COMPANIONS_MAX, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.files_max = files_max

    def clean(self, data: Any, initial: Any = None) -> list["UploadedFile[bytes]"]:
        several = data if isinstance(data, list) else [data] if data else []
        if len(several) > self.files_max:
            raise forms.ValidationError(
                f"Expected at most {self.files_max} files, got {len(several)}. Put them into one tar or zip."
            )
        return [super(SeveralFilesField, self).clean(each, initial) for each in several]


class UploadForm(SlicesForm):
    """The files of a run, and the slices in which the register reads its log."""

    log = forms.FileField(
        label="Log file",
        allow_empty_file=False,
        help_text="A log of ACT, drivetest or YCSB: plain, gzip, zstd or xz, or a tar or zip of several logs.",
        error_messages={"required": "No file was sent. Choose the log that act_storage wrote.", "empty": EMPTY},
    )
    companions = SeveralFilesField(
        label="Other files of the run",
        required=False,
        allow_empty_file=True,
        max_length=255,
        help_text="Side file, configuration, SMART output, standard error, command line, HDR files. "
        "A side file names the drive. Without the command line, a YCSB output does not show what was run.",
    )
    organisation = forms.ModelChoiceField(
        Organisation.objects.none(), empty_label=None, to_field_name="slug", label="Submit for"
    )

    def __init__(self, organisations: list[Organisation], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.organisations = organisations
        if len(organisations) == 1:
            del self.fields["organisation"]
        else:
            field = cast("forms.ModelChoiceField[Organisation]", self.fields["organisation"])
            field.queryset = Organisation.objects.filter(pk__in=[organisation.pk for organisation in organisations])

    def clean_log(self) -> "UploadedFile[bytes]":
        if complaint := files_complaint(self.files):
            raise forms.ValidationError(complaint)
        log: UploadedFile[bytes] = self.cleaned_data["log"]
        return log

    @property
    def chosen_organisation(self) -> Organisation:
        """Return the organisation that submits the log."""
        chosen: Organisation = self.cleaned_data.get("organisation") or self.organisations[0]
        return chosen

    def arrived_files(self) -> list[ArrivedFile]:
        """Return the log, and the files that belong to it."""
        companions = [_arrived(each, DraftFile.Role.COMPANION) for each in self.cleaned_data["companions"]]
        return [_arrived(self.cleaned_data["log"], DraftFile.Role.LOG), *companions]


def _arrived(file: "UploadedFile[bytes]", role: DraftFile.Role) -> ArrivedFile:
    return ArrivedFile(file, file.name or "", file.size or 0, role)


class FactsForm(IdentityForm, DriveStateForm):
    """The sender's facts about the drive, filled in from the files where they state them."""

    embargo_until = MinuteField(  # the valid range depends on the bytes, so that the intake checks it
        label="Not public before, UTC",
        required=False,
        help_text="End of an embargo: a reviewed result becomes public at this minute. "
        "Leave it empty if you want no embargo.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["vendor"].widget.attrs["list"] = "makers"
        self.fields["model"].widget.attrs["list"] = "models"

    def facts(self) -> SubmissionMetadata:
        """Return the facts; the slice length is that of the draft."""
        names = [name for name in FACT_FIELDS if name != "slice_length_s"]
        return SubmissionMetadata(**{name: self.cleaned_data[name] for name in names})
