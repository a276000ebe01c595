// Places of labels: webapp/register/landscape/labels.py in the browser.
import {depthOf, line, pieces, reachOf, text} from './picture.js';
import {percent} from './scales.js';

export const LINE_PX = 14;
const AWAY_PX = [24, 36, 48, 60, 72, 90, 108, 126], DIRECTIONS = [[1, -1], [0.5, -1], [0.25, -1], [1, -0.5], [1, 0.5], [0.5, 1], [1, 1]].flatMap(([across, down]) => [[-across, down], [across, down]]);
export const ASCENT_PX = 10.5;
const CHARACTER_PX = 7.1, DESCENT_PX = 3, CLEARANCE_PX = 2, GAP_PX = 4, BEYOND_PX = 4, BELOW_PX = 4, ABOVE_PX = 4, NEARER_PX = 5;

const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const widened = ({left, top, right, bottom}) => (
  {left: left - CLEARANCE_PX, top: top - CLEARANCE_PX, right: right + CLEARANCE_PX, bottom: bottom + CLEARANCE_PX});

/** Return an object that places texts of a kind on a plot of a nominal size, one after the other. `widthOf` measures a text of a kind; without it, widths are nominal. */
export function labelPlacer(kind, widthPx, heightPx, widthOf = words => CHARACTER_PX * words.length) {
  const taken = [], covered = [], circles = []; // covered: marks, texts and leader lines, which no leader line crosses
  const take = box => { taken.push(box); covered.push(box); };
  const boxOf = ({kind: kindOfText, x, y, dx, dy, anchor}, lines) => {
    const width = Math.max(...lines.map(words => widthOf(words, kindOfText)));
    const left = x * widthPx / 100 + dx - {start: 0, middle: width / 2, end: width}[anchor], base = y * heightPx / 100 + dy;
    return {left, top: base - ASCENT_PX, right: left + width, bottom: base + DESCENT_PX + LINE_PX * (lines.length - 1)};
  };
  // The distance of a text from the circle around a mark.
  const distancePx = ({x, y, r}, {left, top, right, bottom}) => {
    const across = Math.max(left - x, 0, x - right), down = Math.max(top - y, 0, y - bottom);
    return Math.sqrt(across * across + down * down) - r;
  };
  const isNearest = (own, box) => {
    const ownPx = distancePx(circles.find(({mark}) => mark === own), box);
    return circles.every(circle => circle.mark === own || ownPx + NEARER_PX <= distancePx(circle, box));
  };
  // The name of the mark `own` is also nearer to it than to every other mark.
  const firstFree = (candidates, lines, own = null) => {
    for (const candidate of candidates) {
      const box = boxOf(candidate, lines);
      const isInside = box.left >= 0 && box.top >= -ABOVE_PX && box.bottom <= heightPx + BELOW_PX && box.right <= widthPx + BEYOND_PX;
      if (isInside && !taken.some(other => overlaps(box, other)) && (own === null || isNearest(own, box))) {
        take(widened(box)); // so that two labels never touch
        return lines.map((words, number) => ({...candidate, text: words, dy: candidate.dy + LINE_PX * number}));
      }
    }
    return [];
  };
  const boxOfLine = ({x1, y1, x2, y2}) => {
    const [atX, toX, atY, toY] = [x1 * widthPx / 100, x2 * widthPx / 100, y1 * heightPx / 100, y2 * heightPx / 100];
    return {left: Math.min(atX, toX), top: Math.min(atY, toY), right: Math.max(atX, toX), bottom: Math.max(atY, toY)};
  };
  const avoidLines = lines => { for (const each of lines) taken.push(widened(boxOfLine(each))); };
  const at = (mark, kind, lines, places) => firstFree(places.map(([dx, dy, anchor]) => text(kind, mark.x, mark.y, dx, dy, anchor)), lines, mark);
  return {
    kind, firstFree,
    /** Return a text that is never left out: at the first free place, or at the first place if none is free. */
    always(candidates, words) {
      const [placed] = firstFree(candidates, [words]);
      if (placed) return placed;
      const first = {...candidates[0], text: words};
      take(boxOf(first, [words]));
      return first;
    },
    avoidMarks(marks) {
      for (const mark of marks) {
        const x = mark.x * widthPx / 100, y = mark.y * heightPx / 100, r = reachOf(mark);
        circles.push({mark, x, y, r});
        covered.push({left: x - r, top: y - r, right: x + r, bottom: y + depthOf(mark)});
        taken.push({left: x - r - GAP_PX, top: y - r, right: x + r + GAP_PX, bottom: y + depthOf(mark)});
      }
    },
    avoidLines,
    /** Return a label that is not next to its mark, and the line that leads to it; nothing if no place is free. */
    withLeader(mark, kindOfText, lines, twoLines = []) {
      const ownX = mark.x * widthPx / 100, ownY = mark.y * heightPx / 100;
      const others = covered.filter(({left, top, right, bottom}) => !(left <= ownX && ownX <= right && top <= ownY && ownY <= bottom));
      for (const away of AWAY_PX) for (const [across, down] of DIRECTIONS) {
        const end = [percent((ownX + across * away) / widthPx), percent((ownY + down * away) / heightPx)], leader = line(`leader ${kind}`, mark.x, mark.y, ...end);
        const boxes = pieces(leader).map(boxOfLine);
        if (boxes.some(box => others.some(other => overlaps(box, other)))) continue;
        const places = [text(kindOfText, ...end, ...across > 0 ? [2, 4, 'start'] : [-2, 4, 'end'])];
        let placed = firstFree(places, lines);
        if (!placed.length && twoLines.length) placed = firstFree(places, twoLines);
        if (!placed.length) continue;
        avoidLines(pieces(leader));
        covered.push(...boxes.map(widened));
        return [placed, [leader]];
      }
      return [[], []];
    },
    nextTo(mark, kind, lines, twoLines = []) {
      const r = reachOf(mark), sides = [[r + 5, 4, 'start'], [-r - 5, 4, 'end']];
      let placed = at(mark, kind, lines, sides);
      if (!placed.length && twoLines.length) placed = at(mark, kind, twoLines, sides.map(([dx, dy, anchor]) => [dx, dy - LINE_PX / 2, anchor]));
      if (placed.length) return placed;
      const below = depthOf(mark) + 14, above = -(r + 6 + LINE_PX * (lines.length - 1));
      const corners = [above, below].flatMap(dy => [[r, dy, 'start'], [-r, dy, 'end']]);
      return at(mark, kind, lines, [[0, below, 'middle'], [0, above, 'middle'], ...corners]);
    },
  };
}
