"""The cases of tests/data/landscape.json: pictures that Python and the script must draw alike.

`python -m tests.webapp.register.landscape.cases --write` draws the pictures again after a change that is wanted.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from results.rules.act.frontier import frontier
from webapp.register.landscape.endurance_chart import endurance_chart
from webapp.register.landscape.marks import Fill, PlottedDrive
from webapp.register.landscape.speed_chart import Frontier, SpeedQuestion, speed_chart

FILE = Path(__file__).parents[4] / "tests/data/landscape.json"
NAMES = {
    Fill.SERVICE: (("frontier of ACT 6.x:", "none is faster with", "fewer slow reads"), "ACT 6.x"),
    Fill.WITH_QUEUE: (("dashed: the same", "for ACT up to 5.3"), "ACT up to 5.3"),
}


def drives_of(case):
    return [PlottedDrive(**drive) for drive in case["drives"]]


def question_of(case):
    return SpeedQuestion(**case["question"])


def frontiers_of(drives):
    """Return the frontiers of all drives within the limits, by fill."""
    found = []
    for fill, (name, short_name) in NAMES.items():
        same = [drive for drive in drives if drive.fill == fill and drive.is_within]
        places = frontier([drive.tps for drive in same], [drive.share_pct for drive in same])
        edges = tuple((same[place].key, same[place].tps, same[place].share_pct) for place in places)
        if same:
            found.append(Frontier(fill, min(drive.tps for drive in same), edges, name, short_name))
    return found


def drawn(case):
    """Return the frontiers of a case and its two pictures, as JSON holds them."""
    drives, question = drives_of(case), question_of(case)
    frontiers = frontiers_of(drives)
    pictures = {
        "frontiers": [asdict(each) for each in frontiers],
        "speed": named(speed_chart(question, drives, frontiers)),
        "endurance": named(endurance_chart(question, drives, case["headline_key"], tuple(case["counts"]))),
    }
    return json.loads(json.dumps(pictures))


def named(picture):
    """Return a picture with the names of all its parts."""
    return {
        layer: [each._asdict() if hasattr(each, "_asdict") else each for each in parts]
        if isinstance(parts, list | tuple) and not hasattr(parts, "_asdict")
        else parts and parts._asdict()
        for layer, parts in vars(picture).items()
    }


def read_cases():
    return json.loads(FILE.read_text())


if __name__ == "__main__" and "--write" in sys.argv:
    cases = [case | {"drawn": drawn(case)} for case in read_cases()]
    FILE.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
