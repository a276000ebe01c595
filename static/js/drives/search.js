// Search by name that corrects one typing error, with the rules of webapp/register/products/name_search.py.
const SHORTEST_CORRECTED = 4;
const SEARCHED = ['vendor', 'model', 'part_number', 'capacity_gb'];

export const wordsOf = text => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

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
    for (const part of parts) for (const word of wordsOf(part)) known.add(word);
    for (const word of joined) if (word) known.add(word);
    texts.push([...joined.filter(Boolean), ...(store.other_names[parts[0].toLowerCase()] ?? [])].join(' '));
  }
  store.names = {texts, words: [...known].sort()};
  return store.names;
}

function alternatives({texts, words}, word) {
  if (word.length < SHORTEST_CORRECTED || texts.some(text => text.includes(word))) return [word];
  const near = words.filter(other => isOneErrorAway(word, other));
  return near.length ? near : [word];
}

/** Return which rows match a query, and a sentence that names the corrected words. */
export function search(store, query) {
  const names = namesOf(store);
  const words = [...new Set(wordsOf(query))];
  const groups = words.map(word => alternatives(names, word));
  const corrected = words.map((word, place) => [word, groups[place]]).filter(([word, others]) => others.join() !== word);
  return {
    sentence: corrected.map(([word, others]) => `No name contains ${word}; searched for ${others.join(' or ')} instead.`).join(' '),
    matches: names.texts.map(text => groups.every(others => others.some(word => text.includes(word)))),
  };
}
