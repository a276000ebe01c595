// The register's columns as the data file holds them: each text once, and for each row its place (webapp/register/drives/store/encoded_columns.py).
export const UNSTATED = 'unstated';
export const BILLIONTHS = 1e9;
export const SYSTEMS = new Set(['networked', 'cloud']); // ranked as a whole: results/models/categories.py

/** The number that a word says: '1,728,000' as it is, shares ('4.98') in billionths of a percent, exactly. */
function said(word, isShare) {
  const digits = word.replaceAll(',', '');
  if (!isShare) return Number(digits);
  const [whole, places = ''] = digits.split('.');
  return Number(whole + places.padEnd(9, '0'));
}

/** A column that tells the word and the number of a row. */
export const column = told => ({
  ...told,
  word(row) { return this.codes[row] < 0 ? '' : this.words[this.codes[row]]; },
  value(row) { return this.codes[row] < 0 ? null : this.values[this.codes[row]]; },
});

function decodeColumn(code, {words, codes, values, options}) {
  const isShare = code.startsWith('pct_over_');
  return column({
    words, codes,
    values: values?.map((value, place) => value ?? said(words[place], isShare)),
    options: options?.map((option, place) => option ?? words[place]),
  });
}

// results/models/slugs.py: what maker, model and capacity give; of plain letters only.
function usualSlug({vendor, model, capacity_gb: capacity}, row) {
  const size = capacity.value(row);
  const text = `${vendor.word(row)} ${model.word(row)}${size ? ` ${size}gb` : ''}`.replaceAll('.', ' ').toLowerCase();
  return text.replace(/[^\w\s-]/g, '').replace(/[-\s]+/g, '-').replace(/^[-_]+|[-_]+$/g, '').slice(0, 110) || 'product';
}

/** The columns of a data file, with what its words say put back. */
export function decode(file) {
  const columns = Object.fromEntries(Object.entries(file.columns).map(([code, column]) => [code, decodeColumn(code, column)]));
  return {...file, columns, product: file.product.map((slug, row) => slug ?? usualSlug(columns, row))};
}

/** Fetch the data file; a failure is the caller's to handle: the server answers the same questions. */
export async function load(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: expected 200, got ${answer.status}`);
  return decode(await answer.json());
}

/** Thousands separated, zeros that say nothing left out: a decimal as text, as the server prints it. */
export function decimal(text) {
  const [whole, places = ''] = String(text).split('.');
  const kept = places.replace(/0+$/, '');
  return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (kept ? `.${kept}` : '');
}

export const nameOf = (shelf, row) => {
  const parts = ['vendor', 'model', 'capacity_gb'].map(code => shelf.columns[code].word(row)).filter(Boolean);
  const storage = shelf.columns.storage.word(row);
  return parts.join(' ') + (storage ? ` (${storage})` : '');
};
