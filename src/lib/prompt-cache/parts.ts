/** Which message or tool each stretch of a rendered prompt comes from, found by its words in order. */

export interface PromptPart {
  readonly kind: 'message' | 'tool';
  /** Its place among the messages or the tools of the request, from 0. */
  readonly index: number;
  /** The role of a message, the name of a tool. */
  readonly name: string;
  /** UTF-16 positions in the prompt. */
  readonly start: number;
  readonly end: number;
}

/** What a client said in one message, as far as a template may write it. */
export interface PromptMessage {
  readonly role: string;
  readonly content: string;
  readonly reasoning?: string | undefined;
  readonly toolCalls?: readonly { readonly name: string; readonly argumentsJson: string }[] | undefined;
}

export interface PromptWords {
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly { readonly name: string }[];
}

/** How far behind the last words the next ones are looked for, UTF-16 units: a template may write all tools between. */
const REACH = 512 * 1024;
/** Words that are not there cost a whole reach each; a template that changes them all is not mapped to its end. */
const MOST_MISSING = 16;

/** In the order of the prompt; between parts stands what the template writes. Those that begin far behind `until` may be left out. */
export function partsOf(
  text: string,
  { messages, tools }: PromptWords,
  until = Number.POSITIVE_INFINITY,
): PromptPart[] {
  const finder = new Finder(text);
  const said: PromptPart[] = [];
  for (const [index, message] of messages.entries()) {
    const found = wordsOf(message)
      .map((words) => finder.next(words))
      .filter((span) => span !== null);
    const [first] = found;
    const last = found.at(-1);
    if (first === undefined || last === undefined) continue;
    said.push({ kind: 'message', index, name: message.role, start: first.start, end: last.end });
    if (first.start > until) break;
  }
  return [...said, ...toolParts(text, tools, said)].sort((a, b) => a.start - b.start || a.end - b.end);
}

/** The part that holds a position: of several the one that begins last. */
export function partAt(parts: readonly PromptPart[], at: number): PromptPart | null {
  return parts.findLast(({ start, end }) => start <= at && at < end) ?? null;
}

function wordsOf({ content, reasoning, toolCalls = [] }: PromptMessage): string[] {
  return [reasoning ?? '', content, ...toolCalls.flatMap(({ name, argumentsJson }) => [name, argumentsJson])]
    .map((words) => words.trim())
    .filter((words) => words !== '');
}

interface Span {
  readonly start: number;
  readonly end: number;
}

class Finder {
  readonly #text: string;
  #at = 0;
  #missing = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The words behind those that were found last; null when they are not there. */
  next(words: string): Span | null {
    if (this.#missing >= MOST_MISSING) return null;
    const within = this.#text.slice(this.#at, this.#at + REACH + words.length);
    const found = placeOf(words, within);
    if (found < 0) {
      this.#missing += 1;
      return null;
    }
    const start = this.#at + found;
    this.#at = start + words.length;
    return { start, end: this.#at };
  }
}

/** Few words are found in many places; those that stand by themselves are looked for first. */
const FEW = 24;
const MOST_PLACES = 32;

function placeOf(words: string, text: string): number {
  const first = text.indexOf(words);
  if (words.length >= FEW) return first;
  let at = first;
  for (let tried = 0; at >= 0 && tried < MOST_PLACES; tried += 1) {
    const end = at + words.length;
    if (/[\n>\]]|^$/.test(text.charAt(at - 1)) && /[\n<[]|^$/.test(text.charAt(end))) return at;
    at = text.indexOf(words, at + 1);
  }
  return first;
}

/** A tool reaches from its line, or from its name, to the next one, or to the next message. */
function toolParts(
  text: string,
  tools: readonly { readonly name: string }[],
  messages: readonly PromptPart[],
): PromptPart[] {
  const finder = new Finder(text);
  const starts = tools.flatMap(({ name }, index) => {
    const found = finder.next(JSON.stringify(name)) ?? finder.next(name);
    return found === null ? [] : [{ index, name, start: lineOf(text, found.start) }];
  });
  const borders = [...starts.map(({ start }) => start), ...messages.map(({ start }) => start)].sort(
    (a, b) => a - b,
  );
  return starts.map(({ index, name, start }) => ({
    kind: 'tool' as const,
    index,
    name,
    start,
    end: borders.find((border) => border > start) ?? text.length,
  }));
}

/** Characters of a tool's line before its name. */
const BEFORE_NAME = 64;

/** Where the line begins that names a tool; where that is far off, the name itself. */
function lineOf(text: string, at: number): number {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  return at - start <= BEFORE_NAME ? start : at;
}
