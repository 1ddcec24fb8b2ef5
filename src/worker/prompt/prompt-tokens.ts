/**
 * Caches the tokens of the parts of prompts: a conversation is sent again with every turn, and tokenising 150 KB of
 * tools takes tens of milliseconds in which no other stream of the model decodes. A text may be cut before a token
 * that the tokeniser matches before all others, because it tokenises the text before and after it separately anyway.
 */
import { RecentTexts } from '../../lib/base/recent-texts.ts';

interface Piece {
  readonly text: string;
  readonly plain: boolean;
  readonly continues: boolean;
  readonly tokens?: readonly Uint32Array[];
}

export interface Tokeniser {
  readonly controlTexts: readonly string[];
  readonly userDefinedTexts: readonly string[];
  readonly separateTexts: readonly string[];
  readonly prependToken: number | null;
  tokenize(text: string, controls: boolean): Uint32Array;
  tokenizeNext(text: string): Uint32Array;
}

/** About 2 MB of tokens for each million characters. */
const KEPT = { entries: 4_096, chars: 4_000_000 };

export class PromptTokens {
  readonly #vocabulary: Tokeniser;
  readonly #cut: RegExp | null;
  readonly #known = new RecentTexts<Uint32Array>(KEPT);

  constructor(vocabulary: Tokeniser, source: string) {
    this.#vocabulary = vocabulary;
    const marks = cutMarks(vocabulary, source);
    this.#cut = marks.length === 0 ? null : new RegExp(marks.map(escaped).join('|'), 'g');
  }

  /** The same tokens as without the cache. Only prompts of the same `domain` share cached parts. */
  of(pieces: readonly Piece[], domain: string): Uint32Array {
    return joinTokens(
      this.#vocabulary,
      pieces.flatMap((piece) => piece.tokens ?? this.#runs(piece, domain)),
    );
  }

  #runs(piece: Piece, domain: string): readonly Uint32Array[] {
    return piece.plain ? [this.#fresh(piece)] : this.#parts(piece, domain);
  }

  #parts({ text, continues }: Piece, domain: string): Uint32Array[] {
    return cutBefore(text, this.#cut).map((part, index) => {
      const piece = { text: part, plain: false, continues: continues && index === 0 };
      const text = `${domain}${piece.continues ? '+' : ' '}${part}`;
      return this.#known.of(text, () => this.#fresh(piece), domain);
    });
  }

  #fresh({ text, plain, continues }: Piece): Uint32Array {
    return continues ? this.#vocabulary.tokenizeNext(text) : this.#vocabulary.tokenize(text, !plain);
  }
}

export function joinTokens(
  vocabulary: Pick<Tokeniser, 'prependToken'>,
  all: readonly Uint32Array[],
): Uint32Array {
  const runs = [...all];
  const first = vocabulary.prependToken;
  if (first !== null && runs.find((run) => run.length > 0)?.[0] !== first)
    runs.unshift(Uint32Array.of(first));
  if (runs.length === 1 && runs[0] !== undefined) return runs[0];
  const tokens = new Uint32Array(runs.reduce((sum, run) => sum + run.length, 0));
  let at = 0;
  for (const run of runs) {
    tokens.set(run, at);
    at += run.length;
  }
  return tokens;
}

export function cutMarks(
  { separateTexts, controlTexts, userDefinedTexts }: Tokeniser,
  source: string,
): string[] {
  const found = [...controlTexts, ...userDefinedTexts];
  return separateTexts.filter(
    (mark) => /^\S/.test(mark) && source.includes(mark) && found.every((other) => partsAt(mark, other)),
  );
}

/** False if an occurrence of `other` could overlap the beginning of `mark`, or begin inside it and win. */
function partsAt(mark: string, other: string): boolean {
  return !other.includes(mark.charAt(0), 1) && !mark.includes(other.charAt(0), 1);
}

function cutBefore(text: string, mark: RegExp | null): string[] {
  const places = mark === null ? [] : [...text.matchAll(mark)].map(({ index }) => index);
  const starts = [0, ...places.filter((place) => place > 0)];
  return starts.map((start, index) => text.slice(start, starts[index + 1]));
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
