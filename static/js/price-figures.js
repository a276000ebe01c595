// Figures from the reader's prices, and the sentences that name the cheapest drive or cluster.
const NO_BREAK = '\u00a0';

/** Return a number with three significant digits, whole numbers of 1,000 and more with thousands separated. */
export const threeDigits = number => number >= 999.5
  ? Math.round(number).toLocaleString('en-US') : String(Number(number.toPrecision(3)));

// What a cell shows, from the price of one drive, its tested and its sustained speed, its capacity and the number of drives.
export const FIGURES = {
  'per-tps': (price, {tps}) => Number(tps) ? price / Number(tps) * 1000 : null,
  'per-sustained-tps': (price, {sustained}) => Number(sustained) ? price / Number(sustained) * 1000 : null,
  'per-tb': (price, {gb}) => Number(gb) ? price / Number(gb) * 1000 : null,
  total: (price, {count}) => Number(count) ? price * Number(count) : null,
};

const withCurrency = (figure, currency) => `${threeDigits(figure)}${currency && NO_BREAK}${currency}`;

/** Return the text of a figure with its currency; empty without a price, or if the drive lacks the figure. */
export function figureText(entry, shows, drive) {
  const figure = entry && FIGURES[shows](Number(entry.price), drive);
  return figure ? withCurrency(figure, entry.currency) : '';
}

// Short: a table of drives has little room, and shows each in a line.
export const WORDS = [['per-tps', 'per 1,000 tps'], ['per-sustained-tps', 'per 1,000 sustained'], ['per-tb', 'per TB']];

/** Return the figures per speed and per capacity in words, by what they show. */
export const figureLines = (entry, drive) => WORDS
  .map(([shows, words]) => [shows, figureText(entry, shows, drive), words]).filter(([, text]) => text)
  .map(([shows, text, words]) => [shows, `${text} ${words}`]);

const UNRATED = ' Endurance is not included: the rating is not reported.';

/**
 * Return the cluster with the lowest total price for each currency, as sentences. `clusters` are {entry, name, count,
 * isUnrated}; those of unknown endurance come last.
 */
export function cheapestText(clusters) {
  const lowest = new Map();
  for (const {entry, name, count, isUnrated} of clusters) {
    const total = Number(entry.price) * Number(count), other = lowest.get(entry.currency);
    const isLower = !other || (isUnrated === other.isUnrated ? total < other.total : other.isUnrated);
    if (isLower) lowest.set(entry.currency, {total, name, count, isUnrated});
  }
  return [...lowest].sort(([a], [b]) => a < b ? -1 : 1).map(([currency, {total, name, count, isUnrated}]) => {
    const cluster = `${Number(count).toLocaleString('en-US')} x ${name}, ${withCurrency(total, currency)}`;
    return `Cheapest of those shown with a price: ${cluster}.${isUnrated ? UNRATED : ''}`;
  }).join(' ');
}

const ANSWERED = [['per-tps', 'per 1,000 tps'], ['per-sustained-tps', 'per 1,000 tps that the rating allows'], ['per-tb', 'per TB']];

/**
 * Return the drive with the lowest price per speed and per capacity, as sentences; empty without a price.
 * `drives` are {entry, name, tps, sustained, gb}. With `isNotComparable`, their speeds do not compare.
 */
export function lowestText(drives, isNotComparable) {
  const priced = drives.filter(({entry}) => entry), missing = drives.filter(({entry}) => !entry).map(({name}) => name);
  if (!priced.length) return '';
  const more = missing.length ? ` ${missing.join(', ')}: no price entered.` : '';
  if (priced.length === 1) return `Only ${priced[0].name} has a price.${more}`;
  if (new Set(priced.map(({entry}) => entry.currency)).size > 1) return `Your prices are in several currencies, so no drive is called the cheapest.${more}`;
  const {currency} = priced[0].entry, sentences = [];
  for (const [shows, words] of ANSWERED.filter(([each]) => !isNotComparable || each === 'per-tb')) {
    const figures = priced.map(drive => ({name: drive.name, figure: FIGURES[shows](Number(drive.entry.price), drive)}))
      .filter(({figure}) => figure).sort((a, b) => a.figure - b.figure);
    if (figures.length < 2) continue;
    const [first, second] = figures, text = figure => withCurrency(figure, currency);
    sentences.push(first.figure === second.figure
      ? `${first.name} and ${second.name} are cheapest ${words} (${text(first.figure)})`
      : `${first.name} is cheapest ${words} (${text(first.figure)}, the next is ${second.name}: ${text(second.figure)})`);
  }
  const answer = sentences.length ? `At your prices, ${sentences.join('; ')}.` : '';
  return `${answer}${isNotComparable ? ' Prices per speed are not compared, because the speeds are not comparable.' : ''}${more}`.trim();
}
