import type { PromptToken, PromptTokensEvent, TextEvent, TokenLogprob } from '../../../contract/job-event.ts';
import type { CompletionLogprobs } from '../../../wire/inference/completions.ts';
import type { PromptLogprobs } from '../../../wire/inference/prompt-logprobs.ts';
import { wirePromptLogprobs } from '../generation/prompt-scores.ts';

export interface Reported {
  readonly opening: string | null;
  readonly logprobs: number | null;
  readonly echoesTokens: boolean;
  readonly promptLogprobs: number | null;
}

export interface TextPiece {
  readonly text: string;
  readonly logprobs: CompletionLogprobs | null;
}

export class ChoiceText {
  readonly #reported: Reported;
  readonly #echoed: EchoedPrompt;
  #text: string;
  #offset: number;
  #logprobs: CompletionLogprobs | null = null;
  readonly #prompt: PromptToken[] = [];

  constructor(reported: Reported) {
    const { opening } = reported;
    this.#reported = reported;
    this.#echoed = new EchoedPrompt(opening);
    this.#text = opening ?? '';
    this.#offset = charactersIn(Buffer.from(this.#text));
  }

  get text(): string {
    return this.#text;
  }

  get logprobs(): CompletionLogprobs | null {
    return this.#logprobs;
  }

  get promptLogprobs(): PromptLogprobs {
    const { promptLogprobs: top } = this.#reported;
    return top === null ? {} : wirePromptLogprobs(this.#prompt, top);
  }

  addPrompt({ tokens }: PromptTokensEvent): TextPiece {
    const { promptLogprobs, echoesTokens, logprobs: top, opening } = this.#reported;
    if (promptLogprobs !== null) this.#prompt.push(...tokens);
    if (!echoesTokens || top === null) return { text: '', logprobs: null };
    const piece = new LogprobLists();
    for (const { text, bytes, score } of tokens) {
      const at = this.#echoed.pass(bytes);
      const alternatives =
        score === null ? null : wireAlternatives({ text, logprob: score.logprob }, score.top, top);
      piece.add(text, score?.logprob ?? null, alternatives, at);
    }
    const text = this.#echoed.spelled();
    if (opening === null) this.#offset = this.#echoed.characters;
    return this.#took(text, piece);
  }

  add({ text, tokens }: TextEvent): TextPiece {
    const { logprobs: top } = this.#reported;
    if (tokens === undefined || top === null) return this.#took(text, null);
    const piece = new LogprobLists();
    for (const { chosen, top: likeliest } of tokens) {
      piece.add(chosen.text, chosen.logprob, wireAlternatives(chosen, likeliest, top), this.#offset);
      this.#offset += charactersIn(chosen.bytes);
    }
    return this.#took(text, piece);
  }

  #took(text: string, piece: LogprobLists | null): TextPiece {
    this.#text += text;
    if (piece === null) return { text, logprobs: null };
    const logprobs = piece.lists;
    this.#logprobs ??= new LogprobLists().lists;
    for (const name of LISTS) (this.#logprobs[name] as unknown[]).push(...logprobs[name]);
    return { text, logprobs };
  }
}

const LISTS = ['tokens', 'token_logprobs', 'top_logprobs', 'text_offset'] as const;

class LogprobLists {
  readonly lists: CompletionLogprobs = { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };

  add(
    text: string,
    logprob: number | null,
    alternatives: Record<string, number> | null,
    offset: number,
  ): void {
    this.lists.tokens.push(text);
    this.lists.token_logprobs.push(logprob);
    this.lists.top_logprobs.push(alternatives);
    this.lists.text_offset.push(offset);
  }
}

/** Keyed by text, including the sampled token. Of equal texts the likeliest remains. */
function wireAlternatives(
  own: Pick<TokenLogprob, 'text' | 'logprob'>,
  likeliest: readonly TokenLogprob[],
  top: number,
): Record<string, number> {
  const found = new Map<string, number>();
  for (const { text, logprob } of [...likeliest.slice(0, top), own])
    if (!found.has(text)) found.set(text, logprob);
  return Object.fromEntries(found);
}

function charactersIn(bytes: Iterable<number>): number {
  let characters = 0;
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) characters += 1;
  return characters;
}

const SPACE = 0x20;

class EchoedPrompt {
  readonly #known: Buffer | null;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #at = 0;
  #spelled = '';
  characters = 0;

  constructor(known: string | null) {
    this.#known = known === null ? null : Buffer.from(known);
  }

  pass(bytes: readonly number[]): number {
    const begins = this.characters;
    const passed = this.#known === null ? bytes : this.#foundIn(this.#known, bytes);
    if (this.#known === null) this.#spelled += this.#decoder.decode(Uint8Array.from(bytes), { stream: true });
    this.#at += passed.length;
    this.characters += charactersIn(passed);
    return begins;
  }

  spelled(): string {
    const text = this.#spelled;
    this.#spelled = '';
    return text;
  }

  /** A tokenizer may add a mark or a space that the text does not contain. */
  #foundIn(known: Buffer, bytes: readonly number[]): readonly number[] {
    if (this.#isNext(known, bytes)) return bytes;
    const rest = bytes[0] === SPACE ? bytes.slice(1) : [];
    return this.#isNext(known, rest) ? rest : [];
  }

  #isNext(known: Buffer, bytes: readonly number[]): boolean {
    return bytes.every((byte, at) => known[this.#at + at] === byte);
  }
}
