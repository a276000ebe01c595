// Classes of marks, and the parts of a picture: webapp/register/svg/marks.py and landscape/picture.py in the browser.
import {percent} from './scales.js';

const REACHES = {c: 1, s: 0.89, d: 1.3, x: 1.08}; // the outermost points of a shape, as multiples of its radius
const CAPACITY_BOUNDS_GB = [2000, 4000, 8000], RADII_PX = [3.4, 4.6, 6, 7.6], OVER = 'o';
const SQUARES_FROM_DWPD = 2, DIAMONDS_FROM_DWPD = 5;
const TICK_CHARACTER_PX = 7.1, TICK_GAP_PX = 8, TICK_BELOW_PX = 20, LAST_TICK_FROM = 96, PIECES = 24;

export const OVER_LINE_PX = 3;
export const GRID = 'grid', WIDE = 'wide', PHONE = 'phone';
export const sizeClass = capacityGb => CAPACITY_BOUNDS_GB.filter(bound => (capacityGb ?? 0) > bound).length;

export function shapeOf(dwpd) {
  if (dwpd === null) return 'x';
  if (dwpd >= DIAMONDS_FROM_DWPD) return 'd';
  return dwpd >= SQUARES_FROM_DWPD ? 's' : 'c';
}

// The marks of instances have the shape and the colour of their provider.
const PROVIDER_SHAPES = 'csdx', placeOf = provider => Math.min(provider, PROVIDER_SHAPES.length - 1);
export const providerClass = ({provider}) => provider === undefined ? '' : ` p${placeOf(provider)}`;
export const symbolOf = drive => `${drive.provider === undefined ? shapeOf(drive.endurance_dwpd) : PROVIDER_SHAPES[placeOf(drive.provider)]}${sizeClass(drive.capacity_gb)}`;
export const isOver = ({symbol}) => symbol.endsWith(OVER);
export const radiusOf = ({symbol}) => RADII_PX[Number(symbol[1])];
export const reachOf = mark => radiusOf(mark) * REACHES[mark.symbol[0]];
export const depthOf = mark => reachOf(mark) + (isOver(mark) ? OVER_LINE_PX : 0);
/** Return the symbol of a mark over the limit: the same outline with a line below it. */
export const overLimit = symbol => `${symbol}${OVER}`;
export const line = (kind, x1, y1, x2, y2) => ({kind, x1, y1, x2, y2});
export const text = (kind, x, y, dx, dy, anchor, words = '') => ({kind, x, y, dx, dy, anchor, text: words});
export const grouped = number => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
/** Return a percentage as text, with up to nine decimals and without an exponent. */
export const plain = number => number.toFixed(9).replace(/\.?0+$/, '');
export const sideTick = (place, words, kind = 'tick') => text(kind, 0, place, -8, 4, 'end', words);

/** Return a line in pieces, so that the rectangle around each is small. */
export function pieces(each) {
  if (each.x1 === each.x2 || each.y1 === each.y2) return [each];
  const width = (each.x2 - each.x1) / PIECES, height = (each.y2 - each.y1) / PIECES;
  return Array.from({length: PIECES}, (_, number) => {
    const x = each.x1 + width * number, y = each.y1 + height * number;
    return line(each.kind, x, y, x + width, y + height);
  });
}

// The left and the right end of the text of a tick, with half of the gap between two of them.
function endsOf({x, anchor, text: words}, widthPx) {
  const width = TICK_CHARACTER_PX * words.length + TICK_GAP_PX;
  const left = x * widthPx / 100 - (anchor === 'end' ? width - TICK_GAP_PX / 2 : width / 2);
  return [left, left + width];
}

const isDecade = ({text: words}) => words.replaceAll(',', '').replace(/^0+|0+$/g, '') === '1';

// The numbers of the texts that do not touch: decades, all but the last, or every second; then others between.
function withRoom(texts, widthPx) {
  const ends = texts.map(each => endsOf(each, widthPx)), numbers = [...texts.keys()], decades = numbers.filter(number => isDecade(texts[number]));
  const first = decades.length > 1 ? decades : numbers, isClear = some => some.slice(1).every((number, place) => ends[some[place]][1] <= ends[number][0]);
  const someOfThem = [first, first.slice(0, -1), ...numbers.slice(2).map(step => first.filter((_, place) => place % step === 0))];
  const shown = [...someOfThem.find(isClear) ?? []];
  if (shown.length >= first.length - 1) {
    ends.forEach(([left, right], number) => { if (shown.every(other => right <= ends[other][0] || ends[other][1] <= left)) shown.push(number); });
  }
  return new Set(shown);
}

/** Return the places of the ticks of a speed axis, and for each its text, with the kind of those for which a wide screen or a phone has room, otherwise null. */
export function ticksWithTexts(scale, widthsPx) {
  const values = scale.ticks(), places = values.map(value => percent(scale.place(value)));
  const texts = values.map((value, number) => {
    const isLast = places[number] > LAST_TICK_FROM;
    return text('tick', isLast ? 100 : places[number], 100, 0, TICK_BELOW_PX, isLast ? 'end' : 'middle', grouped(value));
  });
  const [wide, phone] = widthsPx.map(width => withRoom(texts, width));
  const kindOf = number => wide.has(number) ? phone.has(number) ? 'tick' : `tick ${WIDE}` : phone.has(number) ? `tick ${PHONE}` : null;
  return [places, texts.map((each, number) => kindOf(number) && {...each, kind: kindOf(number)})];
}

/** Return the places of the ticks of a speed axis, and the texts that have room in plots of two widths: on a wide screen and on a phone. */
export function speedTicks(scale, widthsPx) {
  const [places, texts] = ticksWithTexts(scale, widthsPx);
  return [places, texts.filter(Boolean)];
}

/** Compare drives by the order of painting: small marks are painted over large ones. */
export const paintOrder = (a, b) => sizeClass(b.capacity_gb) - sizeClass(a.capacity_gb) || b.tps - a.tps || a.key - b.key;
export const bySpeed = (a, b) => b.tps - a.tps || a.key - b.key;
