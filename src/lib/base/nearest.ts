/** What somebody may have meant: the known names that are closest to a word, best first, at most three. */
export function nearest(word: string, known: readonly string[]): string[] {
  const wanted = word.toLowerCase();
  if (wanted === '') return [];
  return (
    known
      .map((name) => ({ name, distance: distance(wanted, name.toLowerCase()) }))
      // One edit turns any letter into any other.
      .filter(({ name, distance }) => distance < Math.min(wanted.length, name.length) || distance === 0)
      .filter(
        ({ name, distance }) => distance <= Math.max(1, Math.floor(Math.min(wanted.length, name.length) / 3)),
      )
      .sort((one, other) => one.distance - other.distance)
      .slice(0, 3)
      .map(({ name }) => name)
  );
}

/** A sentence that names them, with a space before it; empty when there are none. */
export function didYouMean(names: readonly string[]): string {
  if (names.length === 0) return '';
  const [last, ...others] = names.toReversed();
  return ` Did you mean ${others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`}?`;
}

/** Edits between two words; a name that begins with the word, or has it as a part, is as near as a typing slip. */
function distance(word: string, name: string): number {
  if (word === name) return 0;
  const edits = editDistance(word, name);
  const isPart = word.length >= 3 && name.split(/[^a-z0-9.]+/).includes(word);
  const isStart = word.length >= 3 && (name.startsWith(word) || (name.length >= 3 && word.startsWith(name)));
  return isPart || isStart ? Math.min(1, edits) : edits;
}

/** Damerau-Levenshtein with adjacent swaps; words here are short, so the whole table is kept. */
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
