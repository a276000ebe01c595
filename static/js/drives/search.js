// Search by name that corrects one typing error, with the rules of webapp/register/products/name_search.py.
const SHORTEST_CORRECTED = 4;
const SEARCHED = ['vendor', 'model', 'part_number', 'capacity_gb'];
const CORRECTED_COUNT = 3; // of these, whose words replace a typing error: no capacity does

export const wordsOf = text => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const hasLetter = word => /\p{L}/u.test(word);
const digitsOf = word => word.replace(/\P{Nd}/gu, ''); // they identify a model

/** Return whether two words differ by one letter added, left out or replaced, or by two neighbours swapped. */
export function isOneErrorAway(word, other) {
  if (Math.abs(word.length - other.length) > 1 || word === other) return false;
  let start = 0;
  while (start < word.length && start < other.length && word[start] === other[start]) start += 1;
  if (start === Math.min(word.length, other.length)) return true;
  const rest = word.slice(start), otherRest = other.slice(start);
  const swapped = otherRest.length > 1 && rest.length > 1 && rest[0] === otherRest[1] && rest[1] === otherRest[0]
    && rest.slice(2) === otherRest.slice(2);
  return swapped || rest.slice(1) === otherRest.slice(1) || rest.slice(1) === otherRest || rest === otherRest.slice(1);
}

/** Return the names that rows are found by; cached in the store. */
export function namesOf(store) {
  if (store.names) return store.names;
  const known = new Set(Object.values(store.other_names).flat()), texts = [];
  for (let row = 0; row < store.count; row += 1) {
    const parts = SEARCHED.map(code => store.columns[code].word(row));
    const joined = parts.map(part => wordsOf(part).join(''));
    for (const part of parts.slice(0, CORRECTED_COUNT)) for (const word of wordsOf(part)) known.add(word);
    for (const word of joined.slice(0, CORRECTED_COUNT)) if (word) known.add(word);
    const others = parts.slice(0, 2).flatMap(name => store.other_names[name.toLowerCase()] ?? []); // of maker and model
    texts.push([...joined.filter(Boolean), ...others].join(' '));
  }
  store.names = {texts, words: [...known].filter(hasLetter).sort()};
  return store.names;
}

/** Return the words that match a word, and its nearest names if no name has it: other digits are another model. */
function reading({texts, words}, word) {
  if (word.length < SHORTEST_CORRECTED || !hasLetter(word) || texts.some(text => text.includes(word))) {
    return {others: [word], nearest: []};
  }
  const near = words.filter(other => isOneErrorAway(word, other));
  const others = near.filter(other => digitsOf(other) === digitsOf(word));
  return others.length ? {others, nearest: []} : {others: [word], nearest: near};
}

/** Return which rows match a query, and a note on the words that were corrected and those that name another model. */
export function search(store, query) {
  const names = namesOf(store);
  const words = [...new Set(wordsOf(query))];
  const readings = words.map(word => reading(names, word)), groups = readings.map(({others}) => others);
  const matches = names.texts.map(text => groups.every(others => others.some(word => text.includes(word))));
  const matching = names.texts.filter((_, row) => matches[row]);
  const used = others => others.filter(other => matching.some(text => text.includes(other))).join(' or ');
  const corrected = words.map((word, place) => [word, groups[place]]).filter(([word, others]) => others.join() !== word);
  const sentences = corrected.map(([word, others]) => `No name contains ${word}, so it was read as ${used(others)}.`);
  const near = words.map((word, place) => [word, readings[place].nearest]).filter(([, nearest]) => nearest.length)
    .map(([word, nearest]) => `No name contains ${word}. Nearest names: ${nearest.join(', ')}.`);
  return {matches, sentence: [...matching.length ? sentences : [], ...near].join(' ')};
}
