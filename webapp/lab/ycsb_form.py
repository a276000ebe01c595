"""The form of a YCSB order, and the command lines that its presets come to."""

import shlex
from dataclasses import dataclass
from typing import Any

from django import forms

from runners.models import Host
from runners.recipes.ycsb_presets import PRESETS, Preset
from runners.recipes.ycsb_setup import COUNT_MAX, PROGRAMS, Setup, load_line, run_line

THREADS_MAX = 10_000


@dataclass(frozen=True)
class PresetLines:
    """A preset with its command lines: the load, and the first run of the sweep."""

    label: str
    preset: Preset
    load: str
    run: str


def lines_of_presets() -> list[PresetLines]:
    """Return what each preset comes to with Java's YCSB; a count that the source does not say is left out."""
    return [_lines(name, preset) for name, preset in PRESETS.items()]


def _lines(name: str, preset: Preset) -> PresetLines:
    setup = Setup(preset=name, plan=preset)
    load = shlex.join(load_line(setup))
    run = shlex.join(run_line(setup, preset.workloads[0], preset.threads[0]))
    return PresetLines(preset.label, preset, load, run)


class YcsbForm(forms.Form):
    """A preset, and what the order changes of it; what is left empty stays as the preset has it."""

    preset = forms.ChoiceField(choices=[(name, preset.label) for name, preset in PRESETS.items()])
    client = forms.ChoiceField(choices=[(name, program) for name, program in PROGRAMS.items()])
    record_count = forms.IntegerField(required=False, min_value=1, max_value=COUNT_MAX)
    operation_count = forms.IntegerField(required=False, min_value=1, max_value=COUNT_MAX)
    workloads = forms.RegexField(r"^[a-f](,[a-f])*\Z", required=False, help_text="Letters with commas: a,b,c")
    threads = forms.RegexField(r"^[0-9]{1,5}(,[0-9]{1,5})*\Z", required=False, help_text="With commas: 4,8,16")
    max_execution_s = forms.IntegerField(label="Time limit of a run, s", required=False, min_value=1)
    database_host = forms.CharField(required=False, max_length=253, help_text="Empty: the drive's own host.")
    namespace = forms.CharField(required=False, max_length=31)
    configuration = forms.CharField(
        label="The database's configuration file", required=False, widget=forms.Textarea(attrs={"rows": 6})
    )
    load_host = forms.ModelChoiceField(
        Host.objects.filter(retired_at=None).exclude(kind=Host.Kind.SSH).order_by("name"),
        required=False,
        empty_label="the drive's own host",
    )

    def clean_threads(self) -> list[int]:
        """Return the thread counts; each must be one."""
        counts = [int(word) for word in self.cleaned_data["threads"].split(",") if word]
        if any(not 1 <= count <= THREADS_MAX for count in counts):
            raise forms.ValidationError(f"Expected thread counts from 1 to {THREADS_MAX}.")
        return counts

    def clean_workloads(self) -> list[str]:
        """Return the letters."""
        return [letter for letter in self.cleaned_data["workloads"].split(",") if letter]

    def options(self) -> dict[str, Any]:
        """Return the options of the order: what was filled in."""
        return {name: value for name, value in self.cleaned_data.items() if value and name != "load_host"}
