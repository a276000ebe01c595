"""Pages of a run: the run itself, its log at a line, and how a slice was counted."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from results.access.mirrored_runs import dump_origin, is_mirrored, missing_log_message
from results.access.withholding import (
    Cause,
    cause_of_file,
    cause_of_files,
    has_withheld_file,
    is_withheld,
    visible_findings,
    visible_name,
    visible_verdict,
)
from results.models import YCSB, Evidence, Profile, Run
from results.rules.act.limits import parse_limits
from webapp.register.http.access import LINK_KEY, LINK_PARAMETER, holds_link, is_public, require_access
from webapp.register.http.query_params import read_parameters
from webapp.register.http.responses import (
    NO_STORE,
    UNAVAILABLE_FOR_LEGAL_REASONS,
    mark_private,
    mark_unlisted,
    public_page,
)
from webapp.register.limits.virtual_devices import (
    DEMO_LABEL,
    VIRTUAL_DEVICE_MARK,
    VIRTUAL_DEVICE_REASON,
    public_virtual_devices_sentence,
)
from webapp.register.runs import page as runs_page
from webapp.register.runs.charts.page import charts_of
from webapp.register.runs.charts.telemetry import NoCharts
from webapp.register.runs.example import example_view
from webapp.register.runs.histograms import times_view
from webapp.register.runs.log_lines import has_lines, log_view
from webapp.register.runs.page import in_order, life_of, minutes_of
from webapp.register.runs.reproduce import reproduction_of
from webapp.register.runs.requirements import requirements_of_run
from webapp.register.runs.side_file import side_file_view
from webapp.register.runs.slices import counts_of, devices_view, slice_table
from webapp.register.runs.verdict import (
    figures,
    limits_context,
    own_limits,
    published_limits_sentence,
    slice_limits_sentence,
    verdict_view,
)
from webapp.register.runs.ycsb import ycsb_view
from webapp.register.tables import categories
from webapp.register.tables.endurance_gap import gap_of
from webapp.register.tables.marks import run_tier_mark
from webapp.register.tables.sentences import published_sentence

P = ParamSpec("P")
LARGEST_LINE = 10**12
LARGEST_SLICE_NUMBER = 10**9  # the range of the database column


def find_run(request: HttpRequest, public_id: str) -> Run:
    """Return the run with its related rows if the client may see it; they are loaded only then (require_access)."""
    runs = Run.objects.filter(public_id=public_id)
    require_access(request, public_id, runs.select_related("submission").first())
    of_submission = ("submission__log", "submission__side_file", "submission__organisation")
    related = ("product", *of_submission, "reading__evidence", "ycsb", "series", "superseded_by")
    return runs.with_withheld_flag().select_related(*related).get()


def guarded(run: Run, response: HttpResponseBase) -> HttpResponseBase:
    """Return the response, marked as private if the run is not public, and for search engines if it is an example."""
    if not is_public(run):
        return mark_private(response)
    return mark_unlisted(response) if run.is_demo else response


RunView = Callable[Concatenate[HttpRequest, Run, P], HttpResponseBase]


def run_page(view: RunView[P]) -> Callable[..., HttpResponseBase]:
    """Find the run of an address for a view, and mark the response as private if the run is not public.

    The only parameter of the address is the key of a secret link.
    """

    @wraps(view)
    def answer(request: HttpRequest, public_id: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        run = find_run(request, public_id)
        read_parameters(request.GET, [LINK_PARAMETER])
        return guarded(run, view(request, run, *args, **kwargs))

    return public_page(answer)


@public_page
def detail(request: HttpRequest, public_id: str) -> HttpResponseBase:
    run = find_run(request, public_id)
    template, own = _kind_of(request, run)
    response = render(request, template, page_context(request, run) | life_of(run) | own)
    if own.get("no_telemetry_reason") is NoCharts.BUSY:
        response.headers["Cache-Control"] = NO_STORE  # the next request may show the charts
    return guarded(run, response)


def _kind_of(request: HttpRequest, run: Run) -> tuple[str, dict[str, Any]]:
    """Return the template and the context of the kind of run: published, YCSB or ACT."""
    if runs_page.evidence_of(run) is None and not is_mirrored(run):
        return "register/runs/published.html", _published_context(request, run)
    if run.workload == YCSB:
        read_parameters(request.GET, [LINK_PARAMETER])
        return "register/runs/ycsb.html", _evidence_context(request, run) | {"ycsb": ycsb_view(run)}
    return "register/runs/detail.html", _evidence_context(request, run) | _log_context(request, run)


def page_context(request: HttpRequest, run: Run) -> dict[str, Any]:
    """Return the context that all kinds of run pages share."""
    return _head_context(request, run) | {
        "category": categories.spec_of(run.product) if run.product else None,
        "withdrawal": runs_page.withdrawal_of(run),
        "tier": run_tier_mark(run),
        "setup": runs_page.setup_pairs(run),
        "product_pairs": runs_page.product_pairs(run),
        "gap": None if run.workload == YCSB else gap_of(run),
        "missing": runs_page.missing_facts(run),
        "requirements": requirements_of_run(run),
    }


def _head_context(request: HttpRequest, run: Run) -> dict[str, Any]:
    """Return the context of the head of a page: the run, and the key of its secret link for the page's links."""
    return {
        "section": "drives",
        "run": run,
        "title": runs_page.title_of(run),
        "is_public": is_public(run),
        "demo_label": DEMO_LABEL,
        "link_query": link_query(request, run),
    }


def link_query(request: HttpRequest, run: Run) -> str:
    """Return the query with the key of the secret link for clients that use it; empty for others."""
    by_link = not is_public(run) and holds_link(request, run)
    return "?" + urlencode({LINK_KEY: request.GET[LINK_KEY]}) if by_link else ""


def _published_context(request: HttpRequest, run: Run) -> dict[str, Any]:
    own = own_limits(request.GET, parse_limits(Profile.current().document))
    shown = figures(run, own.limits)
    return {
        "sentence": published_sentence(run),
        "figures": shown,
        "is_over": any("nearness" in figure and figure["nearness"].is_over for figure in shown),
    } | limits_context(own, published_limits_sentence(run, own), link_query(request, run))


def _evidence_context(request: HttpRequest, run: Run) -> dict[str, Any]:
    mirror = dump_origin() if is_mirrored(run) else None  # the register from whose dump the run was imported
    return {
        "findings": in_order(visible_findings(run)),
        "has_withheld_file": has_withheld_file(run),
        "has_lines": has_lines(run),
        "evidence": runs_page.evidence_of(run),
        "reproduction": None if is_withheld(run) else reproduction_of(run, runs_page.evidence_of(run)),
        "minutes": minutes_of(run, link_query(request, run)),
        "mirror": mirror,
        "mirror_address": mirror.run_address(run) if mirror else "",
        "withheld_cause": cause_of_files(run).label if has_withheld_file(run) else "",
    } | runs_page.files_context(run)


def _log_context(request: HttpRequest, run: Run) -> dict[str, Any]:
    verdict = run.verdicts.select_related("profile").first()
    profile = verdict.profile if verdict else Profile.current()
    limits = parse_limits(profile.document)
    own = own_limits(request.GET, limits)
    shown, is_log_withheld = visible_verdict(run, verdict) if verdict else None, is_withheld(run)
    table = slice_table(run, shown, own=own.limits)
    official = slice_table(run, shown) if own.is_own else table
    found = figures(run, limits, shown.document if shown else None, official)
    return (
        charts_of(run, table)
        | limits_context(own, slice_limits_sentence(table, official, own), link_query(request, run))
        | {
            "verdict": verdict_view(run, shown, official) if shown else None,
            "profile": profile,
            "figures": found,
            "has_ranges": any("at_most" in figure for figure in found),
            "slice_table": table,
            "official_table": official,
            "times": times_view(run, verdict, limits),
            "side_file": side_file_view(run),
            "example": example_view(run, limits),
            "virtual_device_mark": VIRTUAL_DEVICE_MARK if run.is_on_no_drive and not run.is_virtual else "",
            "virtual_device_reason": VIRTUAL_DEVICE_REASON,
            "virtual_devices": public_virtual_devices_sentence(run),
            "is_log_withheld": is_log_withheld,
            "devices": None if is_log_withheld else devices_view(run, verdict, own.limits),
            "log_config": [] if is_log_withheld else runs_page.log_config(run),
            "log_devices": [] if is_log_withheld else runs_page.log_devices(run),
        }
    )


def withheld(request: HttpRequest, run: Run, what: str, file: Evidence | None = None) -> HttpResponseBase:
    """Return status 451 for the contents of a sequestered file. The register shows them to no client.

    Raises Http404 for content that is hidden on request of its sender; without `file`, any file of the run may be.
    """
    if (cause_of_files(run) if file is None else cause_of_file(run, file)) == Cause.REQUEST:
        raise Http404(f"{what} of run {run.public_id} is hidden on request of its organisation.")
    sentence = f"{what} of run {run.public_id} cannot be shown for legal reasons. The bytes remain stored."
    return render(request, "451.html", {"sentence": sentence}, status=UNAVAILABLE_FOR_LEGAL_REASONS)


@run_page
def lines(request: HttpRequest, run: Run, first: int, last: int | None = None) -> HttpResponseBase:
    """Show the stored log at a line, or from one to another."""
    evidence = runs_page.evidence_of(run)
    last = first if last is None else last
    if evidence is None:
        raise Http404(missing_log_message(run))
    if is_withheld(run):
        return withheld(request, run, visible_name(evidence) or "The log", evidence)
    if not 1 <= first <= last <= LARGEST_LINE:
        raise Http404(f"Lines {first} to {last}: expected two line numbers from 1 in ascending order.")
    view = log_view(run, evidence, first, last)
    shown = {"view": view, "first": first, "last": last, "evidence": evidence}
    status = 404 if "is_missing" in view else 200
    return render(request, "register/runs/log_lines.html", _head_context(request, run) | shown, status=status)


@run_page
def slice_counts(request: HttpRequest, run: Run, number: int) -> HttpResponseBase:
    """Show how one slice was counted."""
    if is_withheld(run):
        return withheld(request, run, f"Slice {number}", runs_page.evidence_of(run))
    counted = counts_of(run, run.verdicts.first(), number) if 1 <= number <= LARGEST_SLICE_NUMBER else None
    if counted is None:
        raise Http404(f"Run {run.public_id} has no slice {number}.")
    context = _head_context(request, run) | {"counted": counted, "has_lines": has_lines(run)}
    return render(request, "register/runs/slice.html", context)
