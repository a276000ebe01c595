"""Picture of a run's slices under one limit: a bar for each slice, strong where it is over the limit.

static/js/charts/slices.js moves the bars when the reader changes a limit, by the same rules.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.safestring import SafeString

from webapp.register.runs.charts.drawing import FULL, Tick, drawing, element, joined, percent, stretched

ABOVE_LIMIT = 1.2  # a panel reaches 1.2 x its limit: limit lines are at one height, and height shows nearness
ABOVE_BARS = 1.02  # unless a bar is higher
EACH_TICK_UP_TO = 8  # slices
BAR = 0.8  # of the width of a slice


def slice_drawing(middles: Sequence[float], panel: Mapping[str, Any]) -> SafeString:
    """Return the picture of a panel of slice_chart()."""
    limit, most = panel["limit"], max((share or 0 for share in panel["most"]), default=0)
    top = max(ABOVE_LIMIT * limit, ABOVE_BARS * most) or 1
    return drawing(
        f"Share over {panel['threshold']} by slice; limit {panel['limitText']} %",
        stretched(len(middles), 100, _bars(panel, top)),
        x_ticks=_slice_ticks(middles),
        y_ticks=[Tick(0, "0")],
        x_title="slice",
        above=joined([_limit_line(limit / top, panel["limitText"]), _highest(top, limit, most)]),
        kind="slice-bars",
    )


def _bars(panel: Mapping[str, Any], top: float) -> Iterator[SafeString]:
    for place, share in enumerate(panel["shares"]):
        is_over = panel["over"][place]
        note = f", over the limit of {panel['limitText']} %" if is_over else ""
        text = f"{panel['spans'][place]}: {panel['texts'][place]}{note}" if share is not None else "no operations"
        height = (share or 0) * 100 / top
        yield element(
            "rect", element("title", text), class_="over" if is_over else "bar",
            x=place + (1 - BAR) / 2, width=BAR, y=100 - height, height=height,
        )  # fmt: skip
        if (panel["most"][place] or 0) > (share or 0):
            top_height = panel["most"][place] * 100 / top
            yield element(
                "rect", element("title", text), class_="may", data_place=place,
                x=place + (1 - BAR) / 2, width=BAR, y=100 - top_height, height=top_height - height,
            )  # fmt: skip


def _highest(top: float, limit: float, most: float) -> SafeString:
    """Return the value of the highest bar if it stretches the panel; the limit has a line and a text of its own."""
    text = f"{most:.3g}" if most > ABOVE_LIMIT * limit else ""
    return element("text", text, class_="highest", x=-6, y=percent(1 - most / top), dy=4, text_anchor="end")


def _limit_line(part: float, text: str) -> SafeString:
    """Return the line of the limit with its name, which is left of the bars so that it covers none."""
    y = percent(1 - part)
    line = element("line", class_="limit", x1=0, x2=FULL, y1=y, y2=y)
    return joined([line, element("text", f"limit {text}", class_="limit-text", x=-6, y=y, dy=4, text_anchor="end")])


def _slice_ticks(middles: Sequence[float]) -> list[Tick]:
    """Return a tick for each of a few slices, and for the first, the middle and the last of many."""
    count = len(middles)
    places = range(count) if count <= EACH_TICK_UP_TO else (0, count // 2, count - 1)
    return [Tick((place + 0.5) / count, f"{middles[place]:,.0f}") for place in places]
