/** Deterministic text of about a given number of words; every call with another seed shares no long prefix. */
const words =
  'the river keeps its own time and carries leaves past stone mills where old wheels turn slowly under grey light while people walk home with bread fruit paper lamps and stories about ships winters gardens bridges markets letters clocks maps songs'.split(
    ' ',
  );

export function text(count: number, seed: number): string {
  let state = (Math.imul(seed, 2654435761) + 12345) >>> 0;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return words[(state >>> 8) % words.length];
  }).join(' ');
}
