"""Other names of makers, providers and models, as other_names.csv lists them, for the search and reported identities.

A row of the file has a name in lower case, and its other names as single words. The kind is maker (also for a provider)
or model.
"""

import csv
from pathlib import Path

FILE = Path(__file__).with_name("other_names.csv")

with FILE.open(newline="", encoding="utf-8") as _file:
    _ROWS = [(row["kind"], row["name"], tuple(row["other_names"].split())) for row in csv.DictReader(_file)]

OTHER_NAMES = {name: others for _, name, others in _ROWS}
# Only the other name of a maker identifies it: "optane" is the brand of some models.
MAKERS = {other: name for kind, name, others in _ROWS if kind == "maker" for other in others}
