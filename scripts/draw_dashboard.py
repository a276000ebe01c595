"""Draw the panels of the Grafana dashboard from a Prometheus server as one PNG, without Grafana.

    python scripts/draw_dashboard.py --prometheus http://127.0.0.1:9090 --out dashboard.png --minutes 60

It exits with 1 and names the panels without data.
"""

import argparse
import json
import math
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import fontpkg
from PIL import Image, ImageDraw, ImageFont

DASHBOARD = Path(__file__).parent.parent / "operations" / "grafana" / "drivecert.json"
WIDTH, HEIGHT, MARGIN, COLUMNS = 560, 300, 12, 3
LEGEND_MAX, POINTS = 6, 240
INK, GRID, BACK = "#1f2328", "#d8dee4", "#ffffff"
COLOURS = ("#0b62c4", "#c4490b", "#1a7f37", "#8250df", "#9a6700", "#cf222e", "#0e7490", "#57606a")

Series = tuple[str, list[tuple[float, float]]]


def query_range(server: str, expression: str, start: float, end: float) -> list[dict[str, Any]]:
    """Return the series of an expression over a period."""
    step = max(1.0, (end - start) / POINTS)
    query = urllib.parse.urlencode({"query": expression, "start": start, "end": end, "step": step})
    with urllib.request.urlopen(f"{server}/api/v1/query_range?{query}", timeout=30) as response:  # noqa: S310 - the operator's
        found: list[dict[str, Any]] = json.load(response)["data"]["result"]
    return found


def series_of(server: str, panel: dict[str, Any], start: float, end: float) -> list[Series]:
    """Return the named series of all expressions of a panel, without values that are no numbers."""
    series: list[Series] = []
    for target in panel["targets"]:
        for each in query_range(server, target["expr"], start, end):
            name = target["legendFormat"]
            for label, value in each["metric"].items():
                name = name.replace("{{" + label + "}}", value)
            points = [(at, float(value)) for at, value in each["values"]]
            series.append((name, [(at, value) for at, value in points if math.isfinite(value)]))
    return series


def shown(value: float, unit: str) -> str:
    """Return a value with its unit, in three digits.

    >>> shown(0.0123, "s"), shown(5e9, "bytes"), shown(0.5, "percentunit"), shown(1200, "none"), shown(0, "s")
    ('12.3 ms', '5 GB', '50 %', '1.2 k', '0 s')
    """
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    suffix = {"s": "s", "bytes": "B", "reqps": "/s"}.get(unit, "")
    factor, prefix = 1.0, ""
    if unit == "s" and 0 < abs(value) < 1:
        factor, prefix = 1e-3, "m"
    elif unit != "s":
        powers = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
        factor, prefix = next(((size, name) for size, name in powers if abs(value) >= size), (1.0, ""))
    return f"{value / factor:.3g} {prefix}{suffix}".strip()


def draw_panel(panel: dict[str, Any], series: list[Series], start: float, end: float) -> Image.Image:
    """Return the picture of one panel: title, lines, limits of the axes, and the last values."""
    image = Image.new("RGB", (WIDTH, HEIGHT), BACK)
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(str(fontpkg.path("Inter")), 13)
    unit = panel["fieldConfig"]["defaults"]["unit"]
    draw.rectangle((0, 0, WIDTH - 1, HEIGHT - 1), outline=GRID)
    draw.text((MARGIN, 8), panel["title"], fill=INK, font=font)
    left, top, right, bottom = 80, 36, WIDTH - MARGIN, HEIGHT - 30 - 18 * math.ceil(LEGEND_MAX / 2)
    most = max((value for _, points in series for _, value in points), default=0.0) or 1.0
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * (bottom - top)
        draw.line((left, y, right, y), fill=GRID)
        draw.text((MARGIN, y - 8), shown(most * share, unit), fill=INK, font=font)
    if not any(points for _, points in series):
        draw.text(((left + right) / 2 - 24, (top + bottom) / 2), "no data", fill=INK, font=font)
    by_last = sorted(series, key=lambda each: -(each[1][-1][1] if each[1] else 0))
    for number, (name, points) in enumerate(by_last):
        colour = COLOURS[number % len(COLOURS)]
        line = [
            (left + (at - start) / (end - start) * (right - left), bottom - value / most * (bottom - top))
            for at, value in points
        ]
        if len(line) > 1:
            draw.line(line, fill=colour, width=2)
        elif line:
            draw.ellipse((line[0][0] - 2, line[0][1] - 2, line[0][0] + 2, line[0][1] + 2), fill=colour)
        if number < LEGEND_MAX and points:
            place = (left + (number % 2) * 240, bottom + 8 + 18 * (number // 2))
            draw.text(place, f"{name}: {shown(points[-1][1], unit)}", fill=colour, font=font)
    if len(by_last) > LEGEND_MAX:
        draw.text((left, HEIGHT - 20), f"and {len(by_last) - LEGEND_MAX} more", fill=INK, font=font)
    return image


def draw_dashboard(server: str, out: Path, minutes: float) -> list[str]:
    """Write all panels into one picture. Return the titles of the panels without data."""
    end = time.time()
    start = end - minutes * 60
    panels = json.loads(DASHBOARD.read_text())["panels"]
    rows = math.ceil(len(panels) / COLUMNS)
    picture = Image.new("RGB", (COLUMNS * WIDTH, rows * HEIGHT), BACK)
    empty = []
    for number, panel in enumerate(panels):
        series = series_of(server, panel, start, end)
        if not any(points for _, points in series):
            empty.append(panel["title"])
        picture.paste(draw_panel(panel, series, start, end), (number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT))
    picture.save(out)
    return empty


def main() -> None:
    """Draw the dashboard as the options say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prometheus", default="http://127.0.0.1:9090", help="the address of the Prometheus server")
    parser.add_argument("--out", type=Path, default=Path("dashboard.png"), help="the PNG file to write")
    parser.add_argument("--minutes", type=float, default=60, help="the period, which ends now")
    options = parser.parse_args()
    empty = draw_dashboard(options.prometheus, options.out, options.minutes)
    print(f"{options.out}: written")
    if empty:
        sys.exit(f"panels without data: {', '.join(empty)}")


if __name__ == "__main__":
    main()
