"""Rules that leave out of a record what may differ between two registers: sentences, clocks and random ids."""

import hashlib
import json
import re
from datetime import date
from typing import Any

# Sentences may be rewritten; only their presence and type are compared.
SENTENCE_FIELDS = frozenset(
    [
        "headline", "sentence", "remedy", "reason", "reasons", "error", "detail", "title", "help", "message",
        "expected", "got", "read_at",
    ]
)  # fmt: skip
TEXT = "<text>"
ID = re.compile(r"(?<![\w-])([rscp])-[23456789abcdefghjkmnpqrstvwxyz]{8}(?![\w-])")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TIME = r"(?:[T ,]+\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?"
ISO_DATE = re.compile(rf"(?<!\d)(\d{{4}})-(\d\d)-(\d\d){TIME}")
WRITTEN_DATE = re.compile(rf"(?<!\d)(\d{{1,2}}) ({'|'.join(MONTHS)})[a-z]* (\d{{4}}){TIME}")
# Facts of a row that its content fixes; ids, times and sentences are not among them.
STABLE_FIELDS = (
    "product", "tier", "statistic", "source", "workload", "tool", "tool_version", "reads_per_s", "tps", "nx_load",
    "duration_s", "slice_length_s", "firmware", "over_provisioned_to_gb", "compress_pct", "member", "notes",
)  # fmt: skip


def mask_sentences(value: Any, field: str = "") -> Any:
    """Replace every sentence in a JSON value by a mark of its presence; keep codes, numbers and structure."""
    if isinstance(value, dict):
        return {name: mask_sentences(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [mask_sentences(inner, field) for inner in value]
    if isinstance(value, str) and value and field in SENTENCE_FIELDS:
        return TEXT
    return value


def mask_phrases(value: Any) -> Any:
    """Replace every string of three words or more, as titles and labels of charts are."""
    if isinstance(value, dict):
        return {name: mask_phrases(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [mask_phrases(inner) for inner in value]
    if isinstance(value, str) and len(re.findall(r"[A-Za-z]{2,}", value)) > 2 and " " in value.strip():
        return TEXT
    return value


def stable_key(row: dict[str, Any]) -> str:
    """Return a text that names a row of the API by its content, the same in every register with the same logs."""
    facts: list[Any] = [row.get(name) for name in STABLE_FIELDS]
    facts += [[share["printed"], share["over_count"]] for share in row.get("shares") or []]
    if row.get("ycsb"):
        facts += [row["ycsb"]["throughput_ops_per_s"], row["ycsb"]["runtime_ms"]]
    if isinstance(row.get("log"), dict):
        facts.append(row["log"]["sha256"])
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]
    return f"{row.get('product') or 'none'}~{digest}"


class Normalizer:
    """Names for the values that differ between two registers; the same value always gets the same name."""

    def __init__(self, url: str, since: date) -> None:
        self.url, self.since = url, since
        self._names: dict[str, str] = {}
        self._taken: dict[str, int] = {}

    def name_id(self, public_id: str, key: str) -> None:
        """Name a random id by a key of its row's content; rows of one key are numbered in the order given."""
        if public_id not in self._names:
            wanted = f"{public_id[0]}~{key}"
            self._taken[wanted] = self._taken.get(wanted, 0) + 1
            self._names[public_id] = wanted if self._taken[wanted] == 1 else f"{wanted}~{self._taken[wanted]}"

    def value(self, value: Any) -> Any:
        """Return a JSON value without sentences, with all its strings and keys normalized."""
        return self._strings(mask_sentences(value))

    def text(self, text: str) -> str:
        """Return a text without the register's address, with named ids, and without dates of its own clock."""
        text = ID.sub(self._name, text.replace(self.url, "<register>"))
        host = self.url.partition("://")[2]
        text = ISO_DATE.sub(self._iso_date, text.replace(host, "<host>"))
        return WRITTEN_DATE.sub(self._written_date, text)

    def _strings(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.text(name): self._strings(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._strings(inner) for inner in value]
        return self.text(value) if isinstance(value, str) else value

    def _name(self, found: re.Match[str]) -> str:
        if found[0] not in self._names:
            self.name_id(found[0], "unlisted")
        return self._names[found[0]]

    def _iso_date(self, found: re.Match[str]) -> str:
        return self._masked(found[0], int(found[1]), int(found[2]), int(found[3]))

    def _written_date(self, found: re.Match[str]) -> str:
        return self._masked(found[0], int(found[3]), MONTHS.index(found[2]) + 1, int(found[1]))

    def _masked(self, text: str, year: int, month: int, day: int) -> str:
        try:
            return "<date>" if date(year, month, day) >= self.since else text
        except ValueError:
            return text
