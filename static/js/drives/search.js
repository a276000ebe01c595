// Search by name that forgives one typing error: the rules of webapp/register/drives/search/names.py, word for word.
const SHORTEST_FORGIVEN = 4;
const SEARCHED = ['vendor', 'model', 'part_number', 'capacity_gb'];

export const wordsOf = text => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether one letter added, left out, replaced, or two neighbours swapped make one word of the other. */
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

/** What the rows of a shelf are found by; kept with the shelf. */
export function namesOf(shelf) {
  if (shelf.names) return shelf.names;
  const known = new Set(Object.values(shelf.other_names).flat()), texts = [];
  for (let row = 0; row < shelf.count; row += 1) {
    const parts = SEARCHED.map(code => shelf.columns[code].word(row));
    const joined = parts.map(part => wordsOf(part).join(''));
    for (const part of parts) for (const word of wordsOf(part)) known.add(word);
    for (const word of joined) if (word) known.add(word);
    texts.push([...joined.filter(Boolean), ...(shelf.other_names[parts[0].toLowerCase()] ?? [])].join(' '));
  }
  shelf.names = {texts, words: [...known].sort()};
  return shelf.names;
}

function meant({texts, words}, word) {
  if (word.length < SHORTEST_FORGIVEN || texts.some(text => text.includes(word))) return [word];
  const near = words.filter(other => isOneErrorAway(word, other));
  return near.length ? near : [word];
}

/** What a query means: groups of words, one for each word asked for; which words were taken for errors; and a test of a text. */
export function search(shelf, query) {
  const names = namesOf(shelf);
  const asked = [...new Set(wordsOf(query))];
  const groups = asked.map(word => meant(names, word));
  const read = asked.map((word, place) => [word, groups[place]]).filter(([word, others]) => others.join() !== word);
  return {
    sentence: read.map(([word, others]) => `No name contains ${word}; searched for ${others.join(' or ')} instead.`).join(' '),
    kept: names.texts.map(text => groups.every(others => others.some(word => text.includes(word)))),
  };
}
