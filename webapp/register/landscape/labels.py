"""Places of labels: next to their mark, where they cover no mark, no rule and no other label.

The browser re-flows the picture, so labels are placed for a nominal size of the plot: for wide screens the narrowest
one that shows these labels, for phones that of 390 px. A name is nearer to its own mark than to every other mark.
A name of a drive that finds no such place is left out; only that of the fastest drive is then farther away, with a
leader line.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from webapp.register.landscape.marks import Mark
from webapp.register.landscape.picture import Line, Text, lines_of_text, percent, pieces

CHARACTER_PX, LINE_PX, ASCENT_PX, DESCENT_PX = 7.1, 14, 10.5, 3
CLEARANCE_PX = 2
GAP_PX = 4  # from the ends of a name to other marks; its own one is nearer than that to only one end
NEARER_PX = 5  # a name is to its own mark than to every other, although some fonts are wider than CHARACTER_PX
AWAY_PX = (24, 36, 48, 60, 72, 90, 108, 126)  # from a mark to the end of its leader line, along the longer axis
DIRECTIONS = tuple(
    (side * across, down)
    for across, down in ((1, -1), (0.5, -1), (0.25, -1), (1, -0.5), (1, 0.5), (0.5, 1), (1, 1))
    for side in (-1, 1)
)
BEYOND_PX, BELOW_PX, ABOVE_PX = 4, 4, 4  # a label may reach so far into the margins at the right, below and above


Box = tuple[float, float, float, float]  # a rectangle of the plot, in px: left, top, right, bottom


@dataclass
class LabelPlacer:
    """Places texts of a kind on a plot of a nominal size, one after the other."""

    kind: str
    width_px: float
    height_px: float
    taken: list[Box] = field(default_factory=list)
    covered: list[Box] = field(default_factory=list)  # marks, texts and leader lines, which no leader line crosses
    marks: list[Mark] = field(default_factory=list)

    def avoid_marks(self, marks: Iterable[Mark]) -> None:
        """Keep marks free of labels."""
        for mark in marks:
            x, y, r = mark.x * self.width_px / 100, mark.y * self.height_px / 100, mark.reach_px
            self.taken.append((x - r - GAP_PX, y - r, x + r + GAP_PX, y + mark.depth_px))
            self.covered.append((x - r, y - r, x + r, y + mark.depth_px))
            self.marks.append(mark)

    def avoid_lines(self, lines: Iterable[Line]) -> None:
        """Keep horizontal and vertical rules free of labels."""
        self.taken += [_widened(self._box_of_line(line)) for line in lines]

    def next_to(self, mark: Mark, kind: str, lines: Sequence[str], two_lines: Sequence[str] = ()) -> list[Text]:
        """Return a label at a side or a corner of a mark; nothing if no place is free.

        `two_lines` is the same text in two lines, which is tried on both sides if one line does not fit there.
        """
        r = mark.reach_px
        sides = [(r + 5, 4, "start"), (-r - 5, 4, "end")]
        placed = self._at(mark, kind, lines, sides)
        if not placed and two_lines:
            placed = self._at(mark, kind, two_lines, [(dx, dy - LINE_PX / 2, anchor) for dx, dy, anchor in sides])
        if placed:
            return placed
        below, above = mark.depth_px + 14, -(r + 6 + LINE_PX * (len(lines) - 1))
        around = [(0.0, below, "middle"), (0.0, above, "middle")]
        around += [(dx, dy, anchor) for dy in (above, below) for dx, anchor in ((r, "start"), (-r, "end"))]
        return self._at(mark, kind, lines, around)

    def _at(
        self, mark: Mark, kind: str, lines: Sequence[str], places: Iterable[tuple[float, float, str]]
    ) -> list[Text]:
        texts = [Text(kind, mark.x, mark.y, dx, dy, anchor, "") for dx, dy, anchor in places]
        return self.first_free(texts, lines, mark)

    def with_leader(
        self, mark: Mark, kind: str, lines: Sequence[str], two_lines: Sequence[str] = ()
    ) -> tuple[list[Text], list[Line]]:
        """Return a label that is not next to its mark, and the line that leads to it; nothing if no place is free."""
        own_x, own_y = mark.x * self.width_px / 100, mark.y * self.height_px / 100
        others = [box for box in self.covered if not (box[0] <= own_x <= box[2] and box[1] <= own_y <= box[3])]
        for away in AWAY_PX:
            for across, down in DIRECTIONS:
                end_x = percent((own_x + across * away) / self.width_px)
                end_y = percent((own_y + down * away) / self.height_px)
                text = Text(kind, end_x, end_y, *((2, 4, "start") if across > 0 else (-2, 4, "end")), "")
                forms = (form for form in (lines, two_lines) if form and self._fits(self._box(text, form)))
                fitting = next(forms, None)
                if fitting is None:  # before the line, which has many pieces
                    continue
                leader = Line(f"leader {self.kind}", mark.x, mark.y, end_x, end_y)
                if all(_is_free(self._box_of_line(piece), others) for piece in pieces(leader)):
                    placed = self.first_free([text], fitting)
                    self.avoid_lines(pieces(leader))
                    self.covered += [_widened(self._box_of_line(piece)) for piece in pieces(leader)]
                    return placed, [leader]
        return [], []

    def always(self, candidates: Sequence[Text], text: str) -> Text:
        """Return a text that is never left out: at the first free place, or at the first place if none is free."""
        placed = self.first_free(candidates, [text])
        if placed:
            return placed[0]
        first = candidates[0]._replace(text=text)
        self._take(self._box(first, [text]))
        return first

    def first_free(self, candidates: Iterable[Text], lines: Sequence[str], own: Mark | None = None) -> list[Text]:
        """Return the lines at the first place where they cover nothing; nothing if there is none.

        The name of the mark `own` is also nearer to it than to every other mark.
        """
        for candidate in candidates:
            box = self._box(candidate, lines)
            if self._fits(box) and (own is None or self._is_nearest(own, box)):
                self._take(_widened(box))
                return list(lines_of_text(candidate, lines, LINE_PX))
        return []

    def _fits(self, box: Box) -> bool:
        """Return whether a text is inside the plot and covers nothing."""
        left, top, right, bottom = box
        is_inside = left >= 0 and top >= -ABOVE_PX and bottom <= self.height_px + BELOW_PX
        return is_inside and right <= self.width_px + BEYOND_PX and _is_free(box, self.taken)

    def _is_nearest(self, own: Mark, box: Box) -> bool:
        own_px = self._distance_px(own, box)
        return all(mark is own or own_px + NEARER_PX <= self._distance_px(mark, box) for mark in self.marks)

    def _distance_px(self, mark: Mark, box: Box) -> float:
        """Return the distance of a text from the circle around a mark."""
        x, y = mark.x * self.width_px / 100, mark.y * self.height_px / 100
        across, down = max(box[0] - x, 0, x - box[2]), max(box[1] - y, 0, y - box[3])
        return math.sqrt(across * across + down * down) - mark.reach_px

    def _take(self, box: Box) -> None:
        self.taken.append(box)
        self.covered.append(box)

    def _box_of_line(self, line: Line) -> Box:
        x1, x2 = sorted((line.x1 * self.width_px / 100, line.x2 * self.width_px / 100))
        y1, y2 = sorted((line.y1 * self.height_px / 100, line.y2 * self.height_px / 100))
        return x1, y1, x2, y2

    def _box(self, text: Text, lines: Sequence[str]) -> Box:
        width = CHARACTER_PX * max(len(line) for line in lines)
        x = text.x * self.width_px / 100 + text.dx - {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
        y = text.y * self.height_px / 100 + text.dy
        return x, y - ASCENT_PX, x + width, y + DESCENT_PX + LINE_PX * (len(lines) - 1)


def _is_free(box: Box, taken: Iterable[Box]) -> bool:
    left, top, right, bottom = box
    for taken_left, taken_top, taken_right, taken_bottom in taken:  # twice as fast as `any`
        if left < taken_right and taken_left < right and top < taken_bottom and taken_top < bottom:
            return False
    return True


def _widened(box: Box) -> Box:
    """Return a rectangle with a margin, so that two labels never touch."""
    left, top, right, bottom = box
    return left - CLEARANCE_PX, top - CLEARANCE_PX, right + CLEARANCE_PX, bottom + CLEARANCE_PX
