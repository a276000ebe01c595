"""The cases of tests/data/ranking_requirements.json: sentences that Python and the script must make alike."""

import json

from django.conf import settings

CASES = json.loads((settings.BASE_DIR / "tests/data/ranking_requirements.json").read_text())


def columns_of(case):
    """Return the columns of a case by code, with a text for each row; empty for a value that is not reported."""
    models, capacities, groups = (list(texts) for texts in zip(*case["rows"], strict=True))
    count = len(models)
    return {
        "vendor": ["Exemplar"] * count,
        "model": models,
        "capacity_gb": capacities,
        "storage": [""] * count,
        "comparison_group": groups,
        "statistic": [group.partition(".")[0] for group in groups],
    }
