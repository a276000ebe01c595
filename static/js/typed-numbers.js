// Numbers as people type them: 1M, 5 million, 5e6, 500k, 1,000,000, 2 GiB: webapp/register/http/typed_numbers.py in the browser.
// tests/data/typed_numbers.jsonl has the cases of both.
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$|^\d{1,3}(?:\s\d{3})+(?:\.\d+)?$/;
const TYPED = /^([\d,.\s]*\d)(?:e\+?(\d|1[0-8]))?\s*([^\d]{0,12})$/i, PLAIN = /^(\d{1,18})(?:\.(\d{1,9}))?$/;
const MULTIPLES = new Map([['', 1n], ['k', 10n ** 3n], ['m', 10n ** 6n], ['g', 10n ** 9n], ['t', 10n ** 12n],
  ['thousand', 10n ** 3n], ['million', 10n ** 6n], ['mio', 10n ** 6n], ['mio.', 10n ** 6n], ['billion', 10n ** 9n]]);
const SIZES = new Map([['b', 1n], ['byte', 1n], ['bytes', 1n], ...[...'kmgtp'].flatMap((letter, place) => {
  const power = BigInt(place + 1);
  return [[letter, 1000n ** power], [`${letter}b`, 1000n ** power], [`${letter}ib`, 1024n ** power]];
})]);

/** Return a number without the separators of its thousands; text that is grouped otherwise unchanged. */
export const ungrouped = text => GROUPED.test(text.trim()) ? text.trim().replace(/[,\s]/g, '') : text.trim();

/** Return digits with separators between their thousands; any other text unchanged. */
export const groupedDigits = text => /^[1-9]\d{3,17}(?:\.\d{1,9})?$/.test(text) ? text.replace(/\d(?=(?:\d{3})+(?:\.|$))/g, '$&,') : text;

// The factor of a word as [numerator, denominator]; undefined for an unknown word.
function factorOf(word, unit) {
  if (SIZES.has(unit)) {
    if (!word) return [1n, 1n];
    return SIZES.has(word) ? [SIZES.get(word), SIZES.get(unit)] : undefined;
  }
  const multiple = MULTIPLES.get(unit && word.endsWith(unit) ? word.slice(0, -unit.length).trim() : word);
  return multiple && [multiple, 1n];
}

function decimal(whole, places) {
  const digits = String(whole).padStart(places + 1, '0'), at = digits.length - places;
  const after = digits.slice(at).replace(/0+$/, '');
  return digits.slice(0, at) + (after && `.${after}`);
}

/** Return a typed number in digits, in the field's unit; null for other text. Only a converted size is rounded, to `places` decimals. */
export function plainNumber(text, unit = '', places = 6) {
  const [, number = '', exponent = '0', after = ''] = TYPED.exec(text.trim()) ?? [];
  const digits = PLAIN.exec(ungrouped(number));
  const word = after.trim().toLowerCase(), factor = digits && factorOf(word, unit.toLowerCase());
  if (!factor) return null;
  const [, before, decimals = ''] = digits;
  const top = BigInt(before + decimals) * factor[0] * 10n ** BigInt(places + Number(exponent)), bottom = 10n ** BigInt(decimals.length) * factor[1];
  if (top % bottom && !(word && SIZES.has(unit.toLowerCase()))) return null;
  const plain = decimal((2n * top + bottom) / (2n * bottom), places);
  return PLAIN.test(plain) ? plain : null;
}
