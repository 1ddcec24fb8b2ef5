/** In characters. */
export interface Passage {
  readonly from: number;
  readonly to: number;
}

/** Shorter texts are sent whole. */
export const LEAST_CHARS = 8000;
/** Per file; more would take minutes on a small machine. */
export const MOST_PASSAGES = 2000;
/** About the input of an embedding model. */
const PASSAGE_CHARS = 1000;
/** Per file, of all passages. */
const MOST_SENT_CHARS = 6000;
const CHARS_PER_TOKEN = 4;
/** A file's share of the window; the conversation and the answer need the rest. */
const WINDOW_SHARE = 1 / 3;

/** As many whole lines as fit; a longer line is cut at a space, or in the middle. */
export function passagesOf(text: string): Passage[] {
  const passages: Passage[] = [];
  for (let from = 0; from < text.length; ) {
    const to = endOf(text, from);
    if (text.slice(from, to).trim() !== '') passages.push({ from, to });
    from = to;
  }
  return passages;
}

function endOf(text: string, from: number): number {
  const most = from + PASSAGE_CHARS;
  if (most >= text.length) return text.length;
  for (const boundary of ['\n', ' ']) {
    const at = text.lastIndexOf(boundary, most - 1);
    if (at > from) return at + 1;
  }
  // Never inside a code point.
  return (text.codePointAt(most - 1) ?? 0) > 0xffff ? most - 1 : most;
}

/** In the order of the text; neighbours become one. `window`: tokens. */
export function bestPassages(
  passages: readonly Passage[],
  scores: readonly number[],
  window: number | undefined,
): Passage[] {
  let left = Math.min(MOST_SENT_CHARS, (window ?? Infinity) * CHARS_PER_TOKEN * WINDOW_SHARE);
  const ranked = passages
    .map((passage, at) => ({ passage, score: scores[at] ?? -Infinity }))
    .toSorted((a, b) => b.score - a.score);
  const chosen: Passage[] = [];
  for (const { passage } of ranked) {
    left -= passage.to - passage.from;
    if (left < 0 && chosen.length > 0) break;
    chosen.push(passage);
  }
  return joined(chosen.toSorted((a, b) => a.from - b.from));
}

function joined(passages: readonly Passage[]): Passage[] {
  const all: Passage[] = [];
  for (const passage of passages) {
    const last = all.at(-1);
    if (last?.to === passage.from) all[all.length - 1] = { from: last.from, to: passage.to };
    else all.push(passage);
  }
  return all;
}

export function passageText(text: string, passages: readonly Passage[]): string {
  let line = 1;
  let counted = 0;
  return passages
    .map(({ from, to }) => {
      line += newlinesIn(text.slice(counted, from));
      counted = from;
      const part = text.slice(from, to).replace(/\n$/, '');
      return `[Lines ${line} to ${line + newlinesIn(part)}]\n${part}`;
    })
    .join('\n\n[…]\n\n');
}

const newlinesIn = (text: string): number => text.split('\n').length - 1;

/** Cosine, from -1 to 1; 0 for a zero vector. */
export function likeness(a: Float32Array, b: Float32Array): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < a.length; at += 1) {
    const [x, y] = [a[at] ?? 0, b[at] ?? 0];
    dot += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return ofA === 0 || ofB === 0 ? 0 : dot / Math.sqrt(ofA * ofB);
}
