// The speed of one device, reckoned from what the data file holds: webapp/register/tables/columns.py, whole_device_tps, in the browser.
import {SYSTEMS, column, decimal} from './shelf.js';

// A published result of a drive that states no number of devices is one; of a system, or a log, nothing is known of one.
function devicesOf({statistic, category, device_count: devices}, row) {
  const isOne = statistic.word(row) === 'steady-as-published' && !SYSTEMS.has(category.word(row));
  return Number(devices.word(row)) || (isOne ? 1 : 0);
}

/** The column of it, in whole tps. */
export function deviceSpeed({count, columns}) {
  const speeds = Array.from({length: count}, (_, row) => {
    const tps = columns.tps.value(row), devices = devicesOf(columns, row);
    return tps === null || !devices ? null : Math.floor(tps / devices + 0.5);
  });
  const values = [...new Set(speeds.filter(speed => speed !== null))].sort((a, b) => a - b);
  const places = new Map(values.map((speed, place) => [speed, place]));
  return column({words: values.map(speed => decimal(String(speed))), values, codes: speeds.map(speed => places.get(speed) ?? -1)});
}
