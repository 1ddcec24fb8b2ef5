/**
 * A grammar over tokens: the allowed next tokens, and the state after each. It is Hearth's own reader because
 * llama.cpp's stacks double with each token of an ambiguous grammar, in calls that cannot be bounded from here. The
 * work that a grammar causes is counted; one that needs too much ends its own answer, and is refused from then on.
 */
import { createHash } from 'node:crypto';
import { orFailure } from '../../../lib/errors/grammar-failure.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { checkGbnf } from '../../../../packages/schema-grammar/src/gbnf/gbnf-check.ts';
import { gbnfProgram } from '../../../../packages/schema-grammar/src/gbnf/gbnf-program.ts';
import {
  DEAD,
  GbnfStates,
  type WorkMeter,
} from '../../../../packages/schema-grammar/src/gbnf/gbnf-states.ts';
import type { NativeGrammar } from '../../native.ts';
import type { PackedTexts } from './packed-texts.ts';

/** Work steps that an answer may do at once (about 100 ms), and that each of its tokens adds (about 0.5 ms). */
const MOST_WORK = 2_000_000;
const WORK_PER_TOKEN = 10_000;
/** Of the grammars that are kept, all together; `fill`: of their states, in units of the largest grammar. */
const KEPT_LIMITS = { grammars: 16, chars: 2_000_000, fill: 1, maskBytes: 64 * 1024 * 1024 };
/** A grammar with more states is too large for another answer. */
const MOST_FILL = 0.5;
/** Of these, only digests are kept. */
const MAX_REFUSED = 64;
const MAX_MASKS = 24;

interface KeptGrammar {
  readonly states: GbnfStates;
  readonly masks: Map<number, Uint8Array>;
}

export class TokenGrammars {
  readonly #texts: PackedTexts;
  readonly #limits: typeof KEPT_LIMITS;
  readonly #kept = new Map<string, KeptGrammar>();
  readonly #refused = new Set<string>();

  constructor(texts: PackedTexts, limits = KEPT_LIMITS) {
    this.#texts = texts;
    this.#limits = limits;
  }

  open(gbnf: string): TokenGrammar {
    if (this.#refused.size > 0 && this.#refused.has(sha256(gbnf))) throw tooAmbiguous();
    const kept = this.#kept.get(gbnf);
    const known = kept === undefined || kept.states.fill > MOST_FILL ? this.#made(gbnf) : kept;
    this.#keep(gbnf, known);
    return new TokenGrammar(gbnf, known, this.#texts, () => this.#refuse(gbnf));
  }

  #made(gbnf: string): KeptGrammar {
    return { states: new GbnfStates(gbnfProgram(orFailure(() => checkGbnf(gbnf)))), masks: new Map() };
  }

  #keep(gbnf: string, grammar: KeptGrammar): void {
    this.#kept.delete(gbnf);
    this.#kept.set(gbnf, grammar);
    while (this.#isTooMuch()) {
      const [oldest = gbnf] = this.#kept.keys();
      this.#kept.delete(oldest);
    }
  }

  /** Counted anew each time, because states and masks grow while answers use them. */
  #isTooMuch(): boolean {
    let [chars, fill, masks] = [0, 0, 0];
    for (const [text, grammar] of this.#kept) {
      chars += text.length;
      fill += grammar.states.fill;
      masks += grammar.masks.size;
    }
    const { grammars, maskBytes, ...most } = this.#limits;
    const isTooLarge = chars > most.chars || fill > most.fill || masks * this.#texts.size > maskBytes;
    return this.#kept.size > grammars || (this.#kept.size > 0 && isTooLarge);
  }

  #refuse(gbnf: string): void {
    this.#kept.delete(gbnf);
    this.#refused.add(sha256(gbnf));
    const [oldest] = this.#refused;
    if (this.#refused.size > MAX_REFUSED && oldest !== undefined) this.#refused.delete(oldest);
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64');

function tooAmbiguous() {
  return fail('invalid_request', {
    param: 'grammar',
    message:
      'The grammar of this answer is too ambiguous: each token would have to be followed in too many ways. Simplify the grammar or schema.',
  });
}

interface Partial {
  value: number;
  /** Remaining bytes; 0 if no character is open. */
  left: number;
  /** The smallest code of its length: smaller ones are overlong. */
  least: number;
}

export class TokenGrammar implements NativeGrammar {
  readonly gbnf: string;
  readonly #grammar: KeptGrammar;
  readonly #texts: PackedTexts;
  readonly #meter: WorkMeter;
  #left = MOST_WORK;
  #state: number;
  #partial: Readonly<Partial> = { value: 0, left: 0, least: 0 };
  readonly #end: Partial = { value: 0, left: 0, least: 0 };

  constructor(gbnf: string, grammar: KeptGrammar, texts: PackedTexts, onTooMuch: () => void) {
    this.gbnf = gbnf;
    this.#grammar = grammar;
    this.#texts = texts;
    this.#meter = {
      spend: (work) => {
        this.#left -= work;
        if (this.#left >= 0) return;
        onTooMuch();
        throw tooAmbiguous();
      },
    };
    this.#state = grammar.states.start(this.#meter);
  }

  isAllowed(token: number): boolean {
    if (this.#texts.isEnd[token] === 1)
      return this.#partial.left === 0 && this.#grammar.states.accepts(this.#state);
    const [from, to] = this.#byteRange(token);
    return to > from && this.#texts.bytes[from] !== 0 && this.#walk(this.#texts.bytes, from, to) !== DEAD;
  }

  /** By token: 1 if it may come next. Valid until the next call. */
  allowed(): Uint8Array {
    const { masks } = this.#grammar;
    const isWhole = this.#partial.left === 0;
    const known = isWhole ? masks.get(this.#state) : undefined;
    if (known !== undefined) return known;
    const mask = this.#mask();
    if (!isWhole) return mask;
    masks.set(this.#state, mask);
    const [oldest] = masks.keys();
    if (masks.size > MAX_MASKS && oldest !== undefined) masks.delete(oldest);
    return mask;
  }

  accept(token: number): void {
    this.#left = Math.min(MOST_WORK, this.#left + WORK_PER_TOKEN);
    if (this.#texts.isEnd[token] === 1) return;
    const [from, to] = this.#byteRange(token);
    const state = this.#walk(this.#texts.bytes, from, to);
    if (state === DEAD) throw new Error('a token was chosen that the grammar does not allow');
    this.#state = state;
    this.#partial = { ...this.#end };
  }

  #byteRange(token: number): [from: number, to: number] {
    const { offsets } = this.#texts;
    return [offsets[token] ?? 0, offsets[token + 1] ?? 0];
  }

  #mask(): Uint8Array {
    const { bytes, offsets, isEnd } = this.#texts;
    const mask = new Uint8Array(this.#texts.size);
    const mayEnd = this.#partial.left === 0 && this.#grammar.states.accepts(this.#state);
    const begins = this.#firstBytes();
    for (let token = 0; token < mask.length; token += 1) {
      const from = offsets[token] as number;
      const to = offsets[token + 1] as number;
      if (isEnd[token] === 1) mask[token] = mayEnd ? 1 : 0;
      else if (to > from && begins[bytes[from] as number] === 1 && this.#walk(bytes, from, to) !== DEAD)
        mask[token] = 1;
    }
    return mask;
  }

  #firstBytes(): Uint8Array {
    const begins = new Uint8Array(256);
    const one = new Uint8Array(1);
    for (let byte = 1; byte < 256; byte += 1) {
      one[0] = byte;
      if (this.#walk(one, 0, 1) !== DEAD) begins[byte] = 1;
    }
    return begins;
  }

  #walk(bytes: Uint8Array, from: number, to: number): number {
    const { states } = this.#grammar;
    const { program } = states;
    let { value, left, least } = this.#partial;
    let state = this.#state;
    for (let at = from; at < to && state !== DEAD; at += 1) {
      const byte = bytes[at] as number;
      if (left > 0) {
        if ((byte & 0xc0) !== 0x80) return DEAD;
        value = (value << 6) | (byte & 0x3f);
        left -= 1;
        if (left > 0) continue;
        if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return DEAD;
      } else if (byte < 0x80) {
        value = byte;
      } else {
        if (byte < 0xc2 || byte > 0xf4) return DEAD;
        left = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        value = byte & (0x3f >> left);
        least = left === 1 ? 0x80 : left === 2 ? 0x800 : 0x10000;
        continue;
      }
      state = states.after(state, program.findClass(value), this.#meter);
    }
    if (state !== DEAD && left > 0 && !this.#canComplete(state, { value, left, least })) return DEAD;
    this.#end.value = value;
    this.#end.left = left;
    this.#end.least = least;
    return state;
  }

  #canComplete(state: number, { value, left, least }: Partial): boolean {
    const { states } = this.#grammar;
    const low = Math.max(least, value << (6 * left));
    const high = Math.min(0x10ffff, (value << (6 * left)) | ((1 << (6 * left)) - 1));
    if (low > high) return false;
    return states.program
      .classesWithin(low, high)
      .some((charClass) => states.after(state, charClass, this.#meter) !== DEAD);
  }
}
