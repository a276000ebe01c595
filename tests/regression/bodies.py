"""Records of response bodies, by their content type: structure and values, no texts."""

import csv
import gzip
import hashlib
import io
import json
import re
import struct
from typing import Any

import pyarrow.parquet

from tests.regression.normalization import TEXT, Normalizer, mask_phrases, mask_sentences
from tests.regression.pages import NUMBER, Page, numbers_of_cell, parsed_json

EVIDENCE = re.compile(r"/(log|side\.jsonl)$|/companions/")
GZIP = b"\x1f\x8b"
CHARTS = re.compile(r"-chart\.json$|/over-time\.json")


Content = tuple[dict[str, Any], list[str]]


def record_body(path: str, content_type: str, body: bytes, normalizer: Normalizer) -> Content:
    """Return what is recorded of a body, and its links."""
    kind = content_type.partition(";")[0].strip()
    if EVIDENCE.search(path.partition("?")[0]) and kind != "text/html":
        return {"sha256": digest(body)}, []
    if body.startswith(GZIP):
        return record_packed(path, gzip.decompress(body), normalizer), []
    if path.endswith("/SHA256SUMS"):  # of files that hold random ids
        return {"lines_count": len(body.splitlines())}, []
    if kind.endswith("json"):
        return record_json(path, body, normalizer)
    record = next((record for ending, record in RECORDERS if kind.endswith(ending)), record_other)
    return record(body, normalizer)


def record_page(body: bytes, normalizer: Normalizer) -> Content:
    """Return links, ids, data attributes, form controls, the numbers of tables and embedded documents of a page."""
    page = Page(body.decode())
    links = [link for link in page.links if not link.startswith("/static/")]
    tables = [[[numbers_of_cell(normalizer.text(cell)) for cell in row] for row in table] for table in page.tables]
    controls = {f"{name}={TEXT if ' ' in value else value}" for form in page.forms for name, value in form.values}
    choices = {f"{name}={value}" for form in page.forms for name, each in form.choices.items() for value, _ in each}
    content = {
        "links": sorted({normalizer.text(link) for link in links}),
        "ids": sorted(normalizer.text(each) for each in page.ids),
        "data": sorted(f"{name}={data_value(value, normalizer)}" for name, value in page.data),
        "controls": sorted(normalizer.text(each) for each in controls | choices if not each.startswith("csrf")),
        "tables": tables,
        "documents": [mask_phrases(normalizer.value(document)) for document in page.documents],
    }
    return content, links


def data_value(value: str, normalizer: Normalizer) -> str:
    """Return the value of a data attribute; a sentence is its mark and its numbers are left out."""
    document = parsed_json(value)
    if isinstance(document, dict | list):
        return json.dumps(mask_phrases(mask_sentences(normalizer.value(document))), sort_keys=True)
    return TEXT if len(re.findall(r"[A-Za-z]{2,}", value)) > 2 and " " in value else normalizer.text(value)


def record_json(path: str, body: bytes, normalizer: Normalizer) -> Content:
    """Return the document, with sentences by presence, and the addresses in its url fields."""
    document = json.loads(body)
    links = re.findall(r'"(?:url|log|figures|run_page)": ?"(/[^"]*)"', body.decode())
    value = normalizer.value(document)
    if CHARTS.search(path.partition("?")[0]):
        value = mask_phrases(value)
    if path.startswith("/data/"):  # size and hash of files that hold random ids
        value = mask_fields(mask_fields(value, {"sha256"}), {"size_bytes", "bytes"})
    if "/schema/" in path:
        value = mask_fields(value, {"description", "summary", "title", "version"})
    return {"document": value}, links


def mask_fields(value: Any, names: set[str]) -> Any:
    """Replace the texts of the given fields."""
    if isinstance(value, dict):
        return {k: TEXT if k in names and not isinstance(v, dict) else mask_fields(v, names) for k, v in value.items()}
    return [mask_fields(each, names) for each in value] if isinstance(value, list) else value


def record_csv(body: bytes, normalizer: Normalizer) -> Content:
    """Return the hash of the normalized file, the hash of each column, and the number of rows."""
    text = normalizer.text(body.decode())
    rows = list(csv.reader(io.StringIO(text)))
    head, *lines = rows or [[]]
    columns = {
        name: digest("\n".join(row[index] if index < len(row) else "" for row in lines).encode())[:16]
        for index, name in enumerate(head)
    }
    return {"sha256": digest(text.encode()), "columns": columns, "rows_count": len(lines)}, []


def record_xml(body: bytes, normalizer: Normalizer) -> Content:
    """Return links, ids and numbers of a feed, a sitemap or a picture, and how often each element occurs."""
    text = body.decode()
    links = re.findall(r'href="([^"]*)"', text) + re.findall(r"<loc>([^<]*)</loc>", text)
    names = re.findall(r"<([A-Za-z][\w:-]*)", text)
    drawn = re.findall(r"<text[^>]*>([^<]*)<", text)
    content = {
        "links": sorted({normalizer.text(link) for link in links}),
        "ids": sorted(normalizer.text(each) for each in re.findall(r"<id>([^<]*)</id>", text)),
        "elements": {name: names.count(name) for name in sorted(set(names))},
        "numbers": [number for each in drawn for number in NUMBER.findall(normalizer.text(each))],
    }
    return content, links


def record_parquet(body: bytes, normalizer: Normalizer) -> Content:
    """Return the columns, and the hash of the normalized rows."""
    table = pyarrow.parquet.read_table(io.BytesIO(body))
    rows = normalizer.text(json.dumps(table.to_pylist(), default=str))
    columns = [str(each) for each in table.schema]
    return {"columns": columns, "sha256": digest(rows.encode()), "rows_count": table.num_rows}, []


def record_packed(path: str, body: bytes, normalizer: Normalizer) -> dict[str, Any]:
    """Return what is recorded of a compressed table: a CSV, or JSON lines."""
    if ".csv" in path:
        return record_csv(body, normalizer)[0]
    lines = normalizer.text(body.decode()).splitlines()
    return {"sha256": digest("\n".join(lines).encode()), "lines_count": len(lines)}


def record_text(body: bytes, normalizer: Normalizer) -> Content:
    """Return the hash of a text without its comments."""
    lines = [line for line in normalizer.text(body.decode()).splitlines() if not line.startswith("#")]
    return {"sha256": digest("\n".join(lines).encode()), "lines_count": len(lines)}, []


def record_picture(body: bytes, _normalizer: Normalizer) -> Content:
    """Return width and height: a picture has drawn texts."""
    return {"size": list(struct.unpack(">II", body[16:24]))}, []


def record_other(body: bytes, normalizer: Normalizer) -> Content:
    """Return what is recorded of a body whose type says nothing."""
    return record_parquet(body, normalizer) if body.startswith(b"PAR1") else ({"size_bytes": len(body)}, [])


def digest(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


RECORDERS = (
    ("html", record_page),
    ("csv", record_csv),
    ("xml", record_xml),
    ("parquet", record_parquet),
    ("png", record_picture),
    ("plain", record_text),
    ("text", record_text),
)
