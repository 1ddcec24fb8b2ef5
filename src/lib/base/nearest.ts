/** At most three known names closest to a mistyped word, best first. */
export function nearest(word: string, known: readonly string[]): string[] {
  const wanted = plain(word);
  if (wanted === '') return [];
  return known
    .map((name) => ({ name, distance: distance(wanted, plain(name)) }))
    .filter(({ distance }) => distance < Infinity)
    .sort((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** Programs separate the parts of a name differently: `gemma3:270m`, `gemma3-270m`. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[:_\s]/g, '-');

export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Did you mean ${alternatives(names)}?`;
}

export function alternatives(names: readonly string[]): string {
  const [last = '', ...others] = names.toReversed();
  return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
}

/**
 * Edit distance, Infinity if too far for a typing error. A name that starts with the word, or contains it as a part,
 * counts as one edit; a name with a similar part counts slightly more.
 */
function distance(word: string, name: string): number {
  if (word === name) return 0;
  const parts = name.split(/[^a-z0-9.]+/);
  const isPart = word.length >= 3 && parts.includes(word);
  const isStart = word.length >= 3 && (name.startsWith(word) || (name.length >= 3 && word.startsWith(name)));
  if (isPart || isStart) return Math.min(1, editDistance(word, name));
  // Users often omit the number of `gemma3`.
  const stems = parts.flatMap((part) => [part, part.replace(/[\d.]+$/, '')]);
  const ofParts = stems.filter((part) => part !== name && part.length >= 4).map((part) => slips(word, part));
  return Math.min(slips(word, name), ...ofParts.map((edits) => edits + 0.5));
}

function slips(word: string, name: string): number {
  const edits = editDistance(word, name);
  const shorter = Math.min(word.length, name.length);
  return edits < shorter && edits <= Math.max(1, Math.floor(shorter / 3)) ? edits : Infinity;
}

function editDistance(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(
        Math.min(
          at(row - 1, column) + 1,
          (current[column - 1] ?? Infinity) + 1,
          at(row - 1, column - 1) + (same ? 0 : 1),
          swapped ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(one.length, other.length);
}
