// The table Speed by number of devices below the cloud instances: webapp/register/drives/devices_table.py in the browser.
import {decimal} from './column-store.js';
import {fill} from '../parts.js';

const TENANCY = {yes: 'sole tenant', no: 'shared', '': 'not reported'};
const TYPE = ['vendor', 'model', 'device_gb', 'statistic'], TESTED = [...TYPE, 'device_count', 'sole_tenant'];

const keyOf = ({columns}, codes, row) => codes.map(code => columns[code].codes[row]).join();

// Return the fastest row of each instance type, number of devices and tenancy.
function fastestOfEach(store, rows) {
  const {tps} = store.columns, fastest = new Map();
  for (const row of [...rows].sort((a, b) => (tps.value(b) ?? 0) - (tps.value(a) ?? 0))) {
    const key = keyOf(store, TESTED, row);
    if (!fastest.has(key)) fastest.set(key, row);
  }
  return [...fastest.values()].sort((a, b) => a - b);
}

// Return the rows of each instance type with several numbers of devices.
function instanceTypes(store, rows) {
  const {device_count: count, device_gb: size, tps} = store.columns, types = new Map();
  for (const row of fastestOfEach(store, rows)) {
    if (Math.min(count.codes[row], size.codes[row], tps.codes[row]) < 0 || !tps.value(row)) continue;
    const key = keyOf(store, TYPE, row);
    if (types.has(key)) types.get(key).push(row); else types.set(key, [row]);
  }
  return [...types.values()].filter(same => new Set(same.map(row => count.codes[row])).size > 1);
}

// Return a quotient of whole numbers with three significant digits, half to even: three_digits() of results/rules/endurance.py.
function threeDigits(dividend, divisor) {
  let over = dividend, under = divisor, places = 0;
  while (over && over < under * 100n) { over *= 10n; places += 1; }
  while (over >= under * 1000n) { under *= 10n; places -= 1; }
  const twice = 2n * (over % under);
  const digits = over / under + (twice > under || (twice === under && over / under % 2n) ? 1n : 0n);
  if (places <= 0) return decimal(String(digits * 10n ** BigInt(-places)));
  const padded = String(digits).padStart(places + 1, '0');
  return decimal(`${padded.slice(0, -places)}.${padded.slice(-places)}`);
}

// Return the speed of one device of a row as two whole numbers, which are exact.
function perDeviceOf({columns}, row) {
  const [whole, places = ''] = columns.tps.word(row).replaceAll(',', '').split('.');
  return [BigInt(whole + places), 10n ** BigInt(places.length) * BigInt(columns.device_count.word(row))];
}

function instanceHtml(store, rows) {
  const {vendor, model, device_gb: size, device_count: count, sole_tenant: tenant, tps} = store.columns;
  const ordered = [...rows].sort((a, b) => Number(count.word(a)) - Number(count.word(b)) || tps.value(b) - tps.value(a));
  const tenancyOf = row => TENANCY[tenant.word(row)], reference = tenancyOf(ordered[0]);
  const [fewestOver, fewestUnder] = perDeviceOf(store, ordered[0]);
  const lines = ordered.map(row => {
    const [over, under] = perDeviceOf(store, row), tenancy = tenancyOf(row);
    return fill('instance-line', {
      devices: count.word(row), tenancy, tps: tps.word(row), per_device: threeDigits(over, under),
      of_linear: `${threeDigits(100n * over * fewestUnder, under * fewestOver)} %`,
      reference_html: tenancy === reference ? '' : ` ${fill('word', {kind: 'sub', word: `compared with ${reference}`})}`,
    });
  });
  return fill('instance-title', {name: `${vendor.word(rows[0])} ${model.word(rows[0])}, ${size.word(rows[0])} GB devices`}) + lines.join('');
}

/** Return the bodies of the table as HTML for the rows within the limits. */
export function devicesTable(store, rows) {
  const bodies = instanceTypes(store, rows).map(same => instanceHtml(store, same));
  return (bodies.length ? bodies : [fill('instance-none')]).map(body => `<tbody>\n${body}</tbody>\n`).join('');
}
