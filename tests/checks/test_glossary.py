"""The glossary explains every table and every state."""

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from results.models import Category, Reading, Tier, Verdict, Visibility
from runners.models.states import State
from webapp.register.runs.verdict import STATISTIC_TERMS
from webapp.register.tables.categories import STATES_NOTE
from webapp.register.ycsb.claims.entries import OUTCOME_LABELS

GLOSSARY = Path(settings.BASE_DIR / "docs/glossary.md").read_text().lower()
TABLES = [
    str(model._meta.verbose_name).lower()
    for app in ("results", "runners", "accounts", "notices", "webhooks", "backup", "status", "tracing")
    for model in apps.get_app_config(app).get_models()
]
STATES = [*State.values, *Reading.State.values, *Verdict.Outcome.values, *Visibility.values, *Tier.values]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_explained(name):
    assert re.search(rf"\*\*{re.escape(name)}\*\*", GLOSSARY)


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_explained(state):
    assert f"**{state}**" in GLOSSARY


@pytest.mark.parametrize(
    "term",
    [
        "worst slice", "worst hour", "whole run", "as published", "slow read", "verdict", "tier", "frontier",
        "comparison group", "not ranked", "load ladder", "nines", "dwpd", "endurance gap", "endurance rating", "needed",
        "rated", "requested rate", "achieved rate", "stall", "load generator", "side file", "telemetry", "queue time",
        "virtual device", "coalescing", "percentile", "throughput", "brief", "sole tenant", "backing device", "tps",
        "slice", "threshold", "verified", "undecided", "void", "sustained speed", "comparable", "impossible result",
    ],
)  # fmt: skip
def test_terms_of_public_pages_are_explained(term):
    assert f"**{term}**" in GLOSSARY


TEMPLATES = Path(settings.BASE_DIR / "webapp/templates")
MARKED = re.compile(r'<a class="means" href="{% term \'([^\']+)\' %}"|<span class="(?:tag|fail|pass)">([a-z][a-z -]+)<')
IN_BOLD = re.compile(r"<b>([a-z][a-z -]+)</b>")  # in the explanations, words that are introduced
NO_TERMS = {"choose", "due", "shape", "size", "not read", "not understood"}


def words_of_pages():
    pages = "".join(page.read_text() for page in sorted(TEMPLATES.glob("register/**/*.html")))
    explained = "".join(page.read_text() for page in sorted(TEMPLATES.glob("register/explain/*.html")))
    words = {"".join(groups) for groups in MARKED.findall(pages)} | set(IN_BOLD.findall(explained))
    terms = {*STATISTIC_TERMS.values(), *Verdict.Outcome.labels, *(label.lower() for label in OUTCOME_LABELS.values())}
    return sorted((words | terms) - NO_TERMS)


@pytest.mark.parametrize("word", words_of_pages())
def test_every_word_that_pages_mark_up_as_a_term_is_explained(word):
    singular = word[:-1] if word.endswith("s") else word
    assert f"**{word}**" in GLOSSARY or f"**{singular}**" in GLOSSARY


@pytest.mark.parametrize("label", Category.labels)
def test_every_category_is_named(label):
    assert label.lower() in GLOSSARY


@pytest.mark.parametrize("text", [GLOSSARY, STATES_NOTE])
def test_over_provisioning_is_defined_as_a_percentage_of_the_capacity_that_users_see(text):
    assert "spare capacity, in percent of the capacity that users see" in text
