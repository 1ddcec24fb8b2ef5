/**
 * Keeps client text from becoming control tokens. Before the chat template runs, every place in client text that
 * spells a control token (in any case, as templates may change it) is replaced by one private-use character; after
 * it ran, those places become pieces that are tokenised as plain text. Everything else stays one piece with the
 * template's own words: harmless text is rendered and tokenised exactly as if this file did not exist.
 */
import { fail } from '../../lib/errors/svc-error.ts';

/** `plain` pieces are client text that spells a control token; the others may hold the template's control tokens. */
export interface PromptPiece {
  readonly text: string;
  readonly plain: boolean;
}

const FIRST_STAND_IN = 0xe000;
const LAST_STAND_IN = 0xf8ff;
const PRIVATE_USE = /[\uE000-\uF8FF]/g;

/** What client text must not spell, in any case. Built once per model. */
export interface ControlTexts {
  /** Replaces every whole control text, the longest at each place. */
  replace(text: string, replacement: (found: string) => string): string;
  /** Two or more leading characters of a control text, which the following words of a template could complete. */
  isBeginning(text: string): boolean;
  /** Two or more trailing characters of a control text. */
  isEnding(text: string): boolean;
  readonly longest: number;
}

export function controlTexts(texts: readonly string[]): ControlTexts {
  const whole = new Set<string>();
  const beginnings = new Set<string>();
  const endings = new Set<string>();
  for (const text of texts) {
    const lower = text.toLowerCase();
    if (lower.length < 2) continue;
    whole.add(lower);
    for (let length = 2; length < lower.length; length += 1) {
      beginnings.add(lower.slice(0, length));
      endings.add(lower.slice(-length));
    }
  }
  const lengths = [...new Set([...whole].map((text) => text.length))].sort((a, b) => b - a);
  return {
    replace: replacer(whole, lengths),
    isBeginning: (text) => beginnings.has(text.toLowerCase()),
    isEnding: (text) => endings.has(text.toLowerCase()),
    longest: lengths[0] ?? 0,
  };
}

/**
 * Models have up to thousands of control texts, nearly all of which begin with "<" or "[": looking up slices at
 * those places is linear in the text, where one regular expression of all texts would be their product.
 */
function replacer(whole: ReadonlySet<string>, lengths: readonly number[]): ControlTexts['replace'] {
  if (whole.size === 0) return (text) => text;
  const first = new Set([...whole].flatMap((text) => [text[0] ?? '', (text[0] ?? '').toUpperCase()]));
  const opening = new RegExp(`[${[...first].map(escapeRegExp).join('')}]`, 'g');
  return (text, replacement) => {
    let out = '';
    let from = 0;
    for (const match of text.matchAll(opening)) {
      if (match.index < from) continue;
      const length = lengths.find((l) => whole.has(text.slice(match.index, match.index + l).toLowerCase()));
      if (length === undefined) continue;
      out += text.slice(from, match.index) + replacement(text.slice(match.index, match.index + length));
      from = match.index + length;
    }
    return out + text.slice(from);
  };
}

/** The stand-ins of one rendering. */
export class ClientText {
  readonly #controls: ControlTexts;
  readonly #originals = new Map<string, string>();
  readonly #standIns = new Map<string, string>();
  readonly #taken: ReadonlySet<string>;
  #next = FIRST_STAND_IN;

  /** `occupied` is all client text of the rendering and the template: their private-use characters stay theirs. */
  constructor(controls: ControlTexts, occupied: readonly string[]) {
    this.#controls = controls;
    this.#taken = new Set(occupied.flatMap((text) => text.match(PRIVATE_USE) ?? []));
  }

  /** Client text, safe to be rendered. */
  guard(text: string): string {
    return this.#guardEdges(this.#controls.replace(text, (found) => this.#standInFor(found)));
  }

  /** The same for every string, keys included, inside plain JSON data. */
  guardAll(value: unknown): unknown {
    if (typeof value === 'string') return this.guard(value);
    if (Array.isArray(value)) return value.map((item) => this.guardAll(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.guard(key), this.guardAll(item)]),
    );
  }

  /** Cuts the rendered prompt at the stand-ins and puts the original texts back. */
  pieces(rendered: string): PromptPiece[] {
    if (this.#originals.size === 0) return rendered === '' ? [] : [{ text: rendered, plain: false }];
    const pieces: PromptPiece[] = [];
    const add = (text: string, plain: boolean): void => {
      if (text !== '') pieces.push({ text, plain });
    };
    let from = 0;
    for (const match of rendered.matchAll(this.#standInPattern())) {
      add(rendered.slice(from, match.index), false);
      add(this.#originals.get(standInCharacter(match[0])) ?? '', true);
      from = match.index + match[0].length;
    }
    add(rendered.slice(from), false);
    return pieces;
  }

  /**
   * A part of a control text at the edge of client text, which neighbouring words could complete. One character is
   * left alone, or every text that begins with "<" would be changed; so a template must not join three client texts
   * with nothing between them. A message is one text here, however many parts it came in.
   */
  #guardEdges(text: string): string {
    let out = text;
    const limit = Math.min(this.#controls.longest - 1, text.length);
    for (let length = limit; length >= 2; length -= 1) {
      const tail = out.slice(-length);
      if (this.#controls.isBeginning(tail)) {
        out = out.slice(0, -length) + this.#standInFor(tail);
        break;
      }
    }
    for (let length = Math.min(limit, out.length); length >= 2; length -= 1) {
      const head = out.slice(0, length);
      if (this.#controls.isEnding(head)) return this.#standInFor(head) + out.slice(length);
    }
    return out;
  }

  #standInFor(original: string): string {
    const known = this.#standIns.get(original);
    if (known !== undefined) return known;
    while (this.#taken.has(String.fromCharCode(this.#next))) this.#next += 1;
    if (this.#next > LAST_STAND_IN)
      throw fail('template_failed', { reason: 'the messages use too many different private-use characters' });

    const standIn = String.fromCharCode(this.#next);
    this.#next += 1;
    this.#standIns.set(original, standIn);
    this.#originals.set(standIn, original);
    return standIn;
  }

  /** Templates that write JSON in ASCII print a stand-in as an escape. */
  #standInPattern(): RegExp {
    const forms = [...this.#originals.keys()].flatMap((character) => [character, asciiEscape(character)]);
    return new RegExp(forms.map(escapeRegExp).join('|'), 'g');
  }
}

function asciiEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16)}`;
}

function standInCharacter(form: string): string {
  return form.startsWith('\\u') ? String.fromCharCode(Number.parseInt(form.slice(2), 16)) : form;
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
