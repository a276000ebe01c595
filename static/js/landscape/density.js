// Density cells: webapp/register/landscape/density.py in the browser.
import {percent} from './scales.js';

export const MARKS_AT_MOST = 500;
export const COLUMNS = 40, ROWS = 12, LEVELS = 5;
const SHARE_PLACES = 100;

const levelOf = count => Math.min(Math.floor(Math.log2(count)) + 1, LEVELS);

function cellOf({x, y}, cell, count) {
  const column = Math.floor(cell / ROWS), row = cell % ROWS;
  return {
    x: percent(column / COLUMNS), y: percent(1 - (row + 1) / ROWS), level: levelOf(count), drives_count: count,
    min_tps: Math.floor(x.valueAt(column / COLUMNS) + 1e-6),
    max_share_pct: row < ROWS - 1 ? Math.min(Math.ceil(y.high * (row + 1) / ROWS * SHARE_PLACES - 1e-6) / SHARE_PLACES, 100) : null, // the highest row has all higher shares
  };
}

/** Return the density cells of rows, given functions for the speed and the share of a row. */
export function densityCells(question, rows, tpsOf, shareOf) {
  const {x, y} = question, counts = new Map(), rowsAPercent = ROWS / y.high;
  for (const row of rows) {
    const column = Math.min(Math.max(Math.floor(x.place(tpsOf(row)) * COLUMNS), 0), COLUMNS - 1);
    const cell = ROWS * column + Math.min(Math.floor(shareOf(row) * rowsAPercent), ROWS - 1);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => a - b).map(([cell, count]) => cellOf(question, cell, count));
}
