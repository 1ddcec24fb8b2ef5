/**
 * Keeps client text from becoming structure. Each character of a rendered prompt is known to be a client's or not. A
 * mark (the template's text around turns, calls and results) counts only if none of its characters is a client's.
 *   1. A mark that the vocabulary has as a token is split, and both parts are tokenised apart: the token cannot result,
 *      and no byte changes.
 *   2. A mark that is text to the vocabulary gets a zero-width space inside, and one more for each that is there already:
 *      two different texts stay different.
 * Text without marks is rendered and tokenised exactly as if this file did not exist.
 */
import { SpelledNumber } from '../../lib/json/spelled-numbers.ts';
import { Text } from '../../../packages/chat-templates/src/jinja/values/text.ts';

/** Text that is tokenised alone, unless it `continues` the text before it. */
export interface PromptPiece {
  readonly text: string;
  readonly plain: boolean;
  readonly continues: boolean;
  /** Used instead of its text: an image. */
  readonly tokens?: readonly Uint32Array[];
}

export interface Marks {
  readonly tokens: readonly string[];
  readonly texts: readonly string[];
}

export interface Guard {
  pieces(rendered: Text): PromptPiece[];
}

const ZERO_WIDTH_SPACE = '\u200b';

export function guardAgainst(marks: Marks): Guard {
  // A token of one character is a word of its own and cannot be split.
  const [tokens, texts] = [marks.tokens, marks.texts].map(
    (all) => new MarkFinder(all.filter((mark) => mark.length > 1)),
  ) as [MarkFinder, MarkFinder];
  return {
    pieces(rendered) {
      if (rendered.string === '') return [];
      if (rendered.isOwn) return [{ text: rendered.string, plain: false, continues: false }];
      const broken = rendered.insert(texts.places(rendered, ZERO_WIDTH_SPACE), ZERO_WIDTH_SPACE);
      const cuts = tokens.places(broken);
      return [0, ...cuts].map((start, i) => ({
        text: broken.string.slice(start, cuts[i]),
        plain: false,
        continues: i > 0,
      }));
    },
  };
}

export function withoutMark<Value>(value: Value, mark: string): Value {
  if (typeof value === 'string') return brokenMark(value, mark) as Value;
  if (typeof value !== 'object' || value === null || value instanceof SpelledNumber) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutMark(item, mark)) as Value;
  const entries = Object.entries(value).map(([key, item]) => [
    brokenMark(key, mark),
    withoutMark(item, mark),
  ]);
  return Object.fromEntries(entries) as Value;
}

function brokenMark(text: string, mark: string): string {
  if (!text.replaceAll(ZERO_WIDTH_SPACE, '').includes(mark)) return text;
  const client = Text.client(text);
  return client.insert(new MarkFinder([mark]).places(client, ZERO_WIDTH_SPACE), ZERO_WIDTH_SPACE).string;
}

interface Node {
  isEnd: boolean;
  readonly next: Map<string, Node>;
}

/**
 * Finds marks by walking a tree of their characters from every possible beginning: a vocabulary has up to thousands
 * of marks, and this takes only time in proportion to the text.
 */
class MarkFinder {
  readonly #root: Node = { isEnd: false, next: new Map() };
  /** By UTF-16 unit: 1 if a mark begins with it, as few do. */
  readonly #begins = new Uint8Array(0x1_0000);

  constructor(marks: readonly string[]) {
    for (const mark of marks) {
      let node = this.#root;
      this.#begins[mark.charCodeAt(0)] = 1;
      for (let i = 0; i < mark.length; i += 1) {
        const unit = mark.charAt(i);
        const next = node.next.get(unit) ?? { isEnd: false, next: new Map<string, Node>() };
        node.next.set(unit, next);
        node = next;
      }
      node.isEnd = true;
    }
  }

  places(text: Text, ignored = ''): number[] {
    const places = new Set<number>();
    const { string } = text;
    for (let start = 0; start < string.length; start += 1) {
      if (this.#begins[string.charCodeAt(start)] === 0) continue;
      let node = this.#root.next.get(string.charAt(start));
      for (let end = start + 1; node !== undefined; end += 1) {
        if (node.isEnd) {
          const place = placeInside(text, start, end);
          if (place !== null) places.add(place);
        }
        const unit = string.charAt(end);
        if (unit !== ignored || unit === '') node = node.next.get(unit);
      }
    }
    return [...places].sort((a, b) => a - b);
  }
}

function placeInside(text: Text, start: number, end: number): number | null {
  const first = firstClientCharacter(text, start);
  if (first >= end) return null;
  // Before the client's first character, or after it if the mark begins with it: a shorter mark of the template's own
  // that ends there stays whole.
  return first > start ? first : start + ((text.string.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
}

function firstClientCharacter({ clientRuns, string }: Text, from: number): number {
  let low = 0;
  let high = clientRuns.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((clientRuns[2 * middle + 1] ?? 0) > from) high = middle;
    else low = middle + 1;
  }
  const start = clientRuns[2 * low];
  return start === undefined ? string.length : Math.max(start, from);
}
