"""Sentences about results that are not ranked, as in tests/data/ranking_requirements.json.

tests/browser/test_limit_check_script.py compares those of the script with the same file.
"""

import pytest

from tests.webapp.register.drives.ranking_cases import CASES, columns_of
from webapp.register.drives.ranking_requirements import reasons_not_ranked, unranked_sentences
from webapp.register.drives.store.encoded_columns import ColumnStore, EncodedColumn
from webapp.register.products.name_search import Names


def encoded(texts):
    words = tuple(sorted({text for text in texts if text}))
    return EncodedColumn(words, tuple(words.index(text) if text else -1 for text in texts))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_codes_and_the_sentences_say_why_results_are_not_ranked(case):
    columns = {code: encoded(texts) for code, texts in columns_of(case).items()}
    count = len(case["rows"])
    store = ColumnStore("v", count, ("r",) * count, ("p",) * count, columns, Names((), ()))
    assert list(reasons_not_ranked(store, store.all_rows).items()) == list(case["reasons"].items())
    assert unranked_sentences(store, store.all_rows, case["whose"]) == case["sentences"]
