// The speed of one device, computed from the data file: whole_device_tps of webapp/register/tables/columns.py in the browser.
import {SYSTEMS, column, decimal} from './column-store.js';

// A published drive without a number of devices counts as one device; for a system or a log the number is unknown.
function devicesOf({statistic, category, device_count: devices}, row) {
  const isOne = statistic.word(row) === 'steady-as-published' && !SYSTEMS.has(category.word(row));
  return Number(devices.word(row)) || (isOne ? 1 : 0);
}

/** Return the column of speeds in whole tps. */
export function deviceSpeed({count, columns}) {
  const speeds = Array.from({length: count}, (_, row) => {
    const tps = columns.tps.value(row), devices = devicesOf(columns, row);
    return tps === null || !devices ? null : Math.floor(tps / devices + 0.5);
  });
  const values = [...new Set(speeds.filter(speed => speed !== null))].sort((a, b) => a - b);
  const places = new Map(values.map((speed, place) => [speed, place]));
  return column({words: values.map(speed => decimal(String(speed))), values, codes: speeds.map(speed => places.get(speed) ?? -1)});
}
