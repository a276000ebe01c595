// Classes of marks, and the parts of a picture: webapp/register/svg/marks.py and landscape/picture.py in the browser.
import {percent} from './scales.js';

const CAPACITY_BOUNDS_GB = [2000, 4000, 8000], RADII_PX = [3.4, 4.6, 6, 7.6];
const SQUARES_FROM_DWPD = 2, DIAMONDS_FROM_DWPD = 5;
const TICKS_SIDE_BY_SIDE = 5, LAST_TICK_FROM = 96, NEIGHBOUR_FROM = 82, PHONE_NEIGHBOUR_FROM = 60;

export const GRID = 'grid', WIDE = 'wide', PHONE = 'phone';
export const sizeClass = capacityGb => CAPACITY_BOUNDS_GB.filter(bound => (capacityGb ?? 0) > bound).length;

export function shapeOf(dwpd) {
  if (dwpd === null) return 'x';
  if (dwpd >= DIAMONDS_FROM_DWPD) return 'd';
  return dwpd >= SQUARES_FROM_DWPD ? 's' : 'c';
}

export const symbolOf = drive => `${shapeOf(drive.endurance_dwpd)}${sizeClass(drive.capacity_gb)}`;
export const radiusOf = mark => RADII_PX[Number(mark.symbol.slice(1))];
export const line = (kind, x1, y1, x2, y2) => ({kind, x1, y1, x2, y2});
export const text = (kind, x, y, dx, dy, anchor, words = '') => ({kind, x, y, dx, dy, anchor, text: words});
export const grouped = number => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
/** Return a percentage as text, with up to nine decimals and without an exponent. */
export const plain = number => number.toFixed(9).replace(/\.?0+$/, '');
export const sideTick = (place, words, kind = 'tick') => text(kind, 0, place, -8, 4, 'end', words);

/** Return the places of the ticks of a speed axis, and their texts. */
export function speedTicks(scale) {
  const values = scale.ticks(), places = values.map(value => percent(scale.place(value)));
  const isCrowded = values.length > TICKS_SIDE_BY_SIDE;
  const texts = values.map((value, number) => {
    const isLast = places[number] > LAST_TICK_FROM, isWide = isCrowded && !String(value).startsWith('1');
    return text(isWide ? 'tick wide' : 'tick', isLast ? 100 : places[number], 100, 0, 18, isLast ? 'end' : 'middle', grouped(value));
  });
  const isCramped = bound => places.at(-1) > LAST_TICK_FROM && places.at(-2) > bound;
  if (isCramped(NEIGHBOUR_FROM)) texts.pop();
  else if (isCramped(PHONE_NEIGHBOUR_FROM)) texts.at(-1).kind = 'tick wide';
  return [places, texts];
}

/** Compare drives by the order of painting: small marks are painted over large ones. */
export const paintOrder = (a, b) => sizeClass(b.capacity_gb) - sizeClass(a.capacity_gb) || b.tps - a.tps || a.key - b.key;
export const bySpeed = (a, b) => b.tps - a.tps || a.key - b.key;
