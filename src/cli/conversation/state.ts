/**
 * cli/conversation owns what a conversation in a terminal does: events in, effects out, as plain functions over plain
 * data. It knows no terminal, no socket and no file; cli/terminal turns keys into events and carries effects out.
 */
import type { ChatChunk, ChatResponse } from '../../wire/inference/chat.ts';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The model that answers, as the service describes it. */
export interface Answerer {
  readonly id: string;
  readonly hasTemplate: boolean;
  /** Absent: it reads text, as far as is known. */
  readonly readsImages?: boolean;
  /** Limits of the model, if its file shows any: words that follow "It". */
  readonly limits?: string;
  /** Its window in tokens; while it is not loaded, the most that a load can choose. */
  readonly window?: { readonly tokens: number; readonly isLoaded: boolean };
}

/** Options besides model and messages, by the request's names. */
export type Options = Readonly<Record<string, unknown>>;

/** An answer while it is made. */
export interface OpenAnswer {
  readonly question: string;
  readonly text: string;
  readonly isStopped: boolean;
  readonly last: Pick<ChatChunk, 'usage' | 'timings'> & {
    readonly cut?: 'length' | 'repetition' | undefined;
  };
}

/** A signed answer as it went over the wire; a record is checked against these bytes. */
export interface SignedAnswer {
  readonly request: string;
  readonly response: string;
}

export interface Conversation {
  /** `asking`: a line is expected. `block`: a line of a message in triple quotes. `waiting`: a command is carried out. */
  readonly phase: 'asking' | 'block' | 'answering' | 'waiting' | 'over';
  readonly model: Answerer;
  readonly system: string | null;
  readonly turns: readonly Turn[];
  readonly options: Options;
  readonly isVerbose: boolean;
  /** True if answers get a frozen-v1 record. */
  readonly isSigned: boolean;
  readonly signed: SignedAnswer | null;
  /** The lines so far of a message in triple quotes. */
  readonly block: readonly string[];
  readonly answer: OpenAnswer | null;
  /** One Ctrl-C at an empty line has been seen; the next one leaves. */
  readonly isLeaving: boolean;
  readonly isSingle: boolean;
  /** Parts of the request that go with the question: images and audio. */
  readonly media: readonly object[];
  /** Files that this conversation wrote or read, and may therefore replace. */
  readonly ownFiles: readonly string[];
}

export interface Failure {
  readonly sentence: string;
  /** Code of a service error; null for others. */
  readonly code: string | null;
  readonly exitCode: number;
  /** It came from `stop`. */
  readonly wasStopped: boolean;
}

export type Event =
  | { readonly on: 'line'; readonly text: string }
  | { readonly on: 'interrupt'; readonly lineIsEmpty: boolean }
  /** No further line will come. */
  | { readonly on: 'end' }
  | { readonly on: 'queued'; readonly reason: string }
  | { readonly on: 'chunk'; readonly chunk: ChatChunk }
  /** The window that the answer really had, where the answer was cut. */
  | { readonly on: 'window'; readonly window: NonNullable<Answerer['window']> }
  | { readonly on: 'signed'; readonly answer: SignedAnswer; readonly body: ChatResponse }
  | { readonly on: 'answered' }
  | { readonly on: 'model'; readonly model: Answerer }
  | { readonly on: 'models'; readonly ids: readonly string[] }
  | { readonly on: 'written'; readonly files: readonly string[]; readonly note: string }
  | { readonly on: 'loaded'; readonly file: string; readonly text: string }
  | { readonly on: 'failed'; readonly failure: Failure };

export interface NewFile {
  readonly file: string;
  readonly text: string;
}

export type Effect =
  /** Expect a line; `more` continues a message. */
  | { readonly do: 'ask'; readonly more: boolean }
  /** Answered by `queued`, `chunk`, `signed` and `answered`, or `failed`. */
  | { readonly do: 'send'; readonly body: object; readonly isSigned: boolean }
  /** Ends what was sent last, or the command that waits. */
  | { readonly do: 'stop' }
  | { readonly do: 'findModel'; readonly name: string }
  | { readonly do: 'listModels' }
  /** The result arrives with `written`, which returns `note`. */
  | {
      readonly do: 'write';
      readonly files: readonly NewFile[];
      readonly mayReplace: boolean;
      readonly note: string;
    }
  | { readonly do: 'read'; readonly file: string }
  | { readonly do: 'showAnswer'; readonly text: string }
  | { readonly do: 'showReasoning'; readonly text: string }
  /** A line that the next output replaces; null takes it away. */
  | { readonly do: 'showStatus'; readonly text: string | null }
  /** The answer is over: its line ends, its style too. */
  | { readonly do: 'closeAnswer' }
  | { readonly do: 'say'; readonly text: string }
  | { readonly do: 'leave'; readonly exitCode: number; readonly sentence: string | null };

export interface Step {
  readonly state: Conversation;
  readonly effects: readonly Effect[];
}

export interface Opening {
  readonly model: Answerer;
  readonly system?: string | undefined;
  readonly options?: Options;
  readonly isVerbose?: boolean;
  readonly isSingle?: boolean;
  readonly media?: readonly object[];
}

export function newConversation(opening: Opening): Conversation {
  return {
    phase: 'asking',
    model: opening.model,
    system: opening.system ?? null,
    turns: [],
    options: opening.options ?? {},
    isVerbose: opening.isVerbose === true,
    isSigned: false,
    signed: null,
    block: [],
    answer: null,
    isLeaving: false,
    isSingle: opening.isSingle === true,
    media: opening.media ?? [],
    ownFiles: [],
  };
}

/** The request of a conversation, `question` being its last message; also what `/save` writes. */
export function chatRequest(state: Conversation, question?: string): Record<string, unknown> {
  const system = state.system === null ? [] : [{ role: 'system', content: state.system }];
  const asked = question === undefined ? [] : [{ role: 'user', content: questionContent(state, question) }];
  return { model: state.model.id, ...state.options, messages: [...system, ...state.turns, ...asked] };
}

function questionContent({ media }: Conversation, question: string): unknown {
  return media.length === 0 ? question : [{ type: 'text', text: question }, ...media];
}

/** Back to the person, with a sentence. */
export function askAgain(state: Conversation, ...sentences: readonly string[]): Step {
  return {
    state: { ...state, phase: 'asking' },
    effects: [...sentences.map((text) => ({ do: 'say' as const, text })), { do: 'ask', more: false }],
  };
}

export const unchanged = (state: Conversation): Step => ({ state, effects: [] });
