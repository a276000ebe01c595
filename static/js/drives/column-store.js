// The columns of the data file: each text once, and for each row the place of its text (webapp/register/drives/store/encoded_columns.py).
import {billionths} from '../limits.js';

export const UNSTATED = 'unstated';
export const SYSTEMS = new Set(['networked', 'cloud']); // ranked as a whole: results/models/categories.py

// The number in a word: '1,728,000' as it is, shares ('4.98') in billionths of a percent, exactly.
const numberIn = (word, isShare) => isShare ? billionths(word) : Number(word.replaceAll(',', ''));

/** Return a column with methods for the word and the number of a row. */
export const column = encoded => ({
  ...encoded,
  word(row) { return this.codes[row] < 0 ? '' : this.words[this.codes[row]]; },
  value(row) { return this.codes[row] < 0 ? null : this.values[this.codes[row]]; },
});

function decodeColumn(code, {words, codes, values, options}) {
  const isShare = code.startsWith('pct_over_');
  return column({
    words, codes,
    values: values?.map((value, place) => value ?? numberIn(words[place], isShare)),
    options: options?.map((option, place) => option ?? words[place]),
  });
}

// The slug made from maker, model and capacity (results/models/ids.py), for ASCII names only.
function usualSlug({vendor, model, capacity_gb: capacity}, row) {
  const size = capacity.value(row);
  const text = `${vendor.word(row)} ${model.word(row)}${size ? ` ${size}gb` : ''}`.replaceAll('.', ' ').toLowerCase();
  return text.replace(/[^\w\s-]/g, '').replace(/[-\s]+/g, '-').replace(/^[-_]+|[-_]+$/g, '').slice(0, 110) || 'product';
}

/** Decode a data file: add the values and options that follow from its words. */
export function decode(file) {
  const columns = Object.fromEntries(Object.entries(file.columns).map(([code, column]) => [code, decodeColumn(code, column)]));
  return {...file, columns, product: file.product.map((slug, row) => slug ?? usualSlug(columns, row))};
}

/** Return the number of devices of a row, 0 if it is not known. A published drive without a number of devices counts as one device. */
export function devicesOf({statistic, category, device_count: devices}, row) {
  const isOne = statistic.word(row) === 'steady-as-published' && !SYSTEMS.has(category.word(row));
  return Number(devices.word(row)) || (isOne ? 1 : 0);
}

// The speed of one device in whole tps: whole_device_tps of webapp/register/tables/columns.py in the browser.
function deviceSpeed({count, columns}) {
  const speeds = Array.from({length: count}, (_, row) => {
    const tps = columns.tps.value(row), devices = devicesOf(columns, row);
    return tps === null || !devices ? null : Math.floor(tps / devices + 0.5);
  });
  const values = [...new Set(speeds.filter(speed => speed !== null))].sort((a, b) => a - b);
  const places = new Map(values.map((speed, place) => [speed, place]));
  return column({words: values.map(decimal), values, codes: speeds.map(speed => places.get(speed) ?? -1)});
}

/** Fetch the data file. The caller handles a failure, because the server answers the same queries. */
export async function load(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: expected 200, got ${response.status}`);
  const store = decode(await response.json());
  store.columns.device_tps = deviceSpeed(store);
  return store;
}

/** Return a decimal as the server prints it: thousands separated, without trailing zeros. */
export function decimal(text) {
  const [whole, places = ''] = String(text).split('.');
  const digits = places.replace(/0+$/, '');
  return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (digits ? `.${digits}` : '');
}

export const count = number => decimal(String(number));

export const nameOf = (store, row) => {
  const parts = ['vendor', 'model', 'capacity_gb'].map(code => store.columns[code].word(row)).filter(Boolean);
  const storage = store.columns.storage.word(row);
  return parts.join(' ') + (storage ? ` (${storage})` : '');
};
