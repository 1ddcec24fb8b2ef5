/**
 * cli/conversation owns the behaviour of a conversation in a terminal, as plain functions from events to effects. It
 * knows no terminal, no socket and no file; cli/terminal turns keys into events and carries out effects.
 */
import type { ChatChunk, ChatResponse } from '../../wire/inference/chat.ts';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface Answerer {
  readonly id: string;
  readonly hasTemplate: boolean;
  readonly readsImages?: boolean;
  /** Limits of the model, if its file states any; the words follow "It". */
  readonly limits?: string;
  /** In tokens; while the model is not loaded, the most that a load can choose. */
  readonly window?: { readonly tokens: number; readonly isLoaded: boolean };
}

export type Options = Readonly<Record<string, unknown>>;

export interface OpenAnswer {
  readonly question: string;
  readonly text: string;
  readonly isStopped: boolean;
  readonly last: Pick<ChatChunk, 'usage' | 'timings'> & {
    readonly cut?: 'length' | 'repetition' | undefined;
  };
}

/** As sent over the wire, because a record is checked against these bytes. */
export interface SignedAnswer {
  readonly request: string;
  readonly response: string;
}

export interface Conversation {
  /** `asking`: expects a line. `block`: expects a line of a message in triple quotes. `waiting`: a command runs. */
  readonly phase: 'asking' | 'block' | 'answering' | 'waiting' | 'over';
  readonly model: Answerer;
  readonly system: string | null;
  readonly turns: readonly Turn[];
  readonly options: Options;
  readonly isVerbose: boolean;
  readonly isSigned: boolean;
  readonly signed: SignedAnswer | null;
  readonly block: readonly string[];
  readonly answer: OpenAnswer | null;
  /** Ctrl-C was pressed at an empty line; the next one leaves. */
  readonly isLeaving: boolean;
  readonly isSingle: boolean;
  readonly media: readonly object[];
  /** Files that this conversation wrote or read, and may therefore replace. */
  readonly ownFiles: readonly string[];
}

export interface Failure {
  readonly sentence: string;
  readonly code: string | null;
  readonly exitCode: number;
  readonly wasStopped: boolean;
}

export type Event =
  | { readonly on: 'line'; readonly text: string }
  | { readonly on: 'interrupt'; readonly lineIsEmpty: boolean }
  | { readonly on: 'end' }
  | { readonly on: 'queued'; readonly reason: string }
  | { readonly on: 'chunk'; readonly chunk: ChatChunk }
  /** Real window of the answer, if it was cut. */
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
  | { readonly do: 'ask'; readonly more: boolean }
  | { readonly do: 'send'; readonly body: object; readonly isSigned: boolean }
  | { readonly do: 'stop' }
  | { readonly do: 'findModel'; readonly name: string }
  | { readonly do: 'listModels' }
  | {
      readonly do: 'write';
      readonly files: readonly NewFile[];
      readonly mayReplace: boolean;
      readonly note: string;
    }
  | { readonly do: 'read'; readonly file: string }
  | { readonly do: 'showAnswer'; readonly text: string }
  | { readonly do: 'showReasoning'; readonly text: string }
  /** The next output replaces this line; null removes it. */
  | { readonly do: 'showStatus'; readonly text: string | null }
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

/** `question` becomes the last message. Also the contents of a file of `/save`. */
export function chatRequest(state: Conversation, question?: string): Record<string, unknown> {
  const system = state.system === null ? [] : [{ role: 'system', content: state.system }];
  const asked = question === undefined ? [] : [{ role: 'user', content: questionContent(state, question) }];
  return { model: state.model.id, ...state.options, messages: [...system, ...state.turns, ...asked] };
}

function questionContent({ media }: Conversation, question: string): unknown {
  return media.length === 0 ? question : [{ type: 'text', text: question }, ...media];
}

export function askAgain(state: Conversation, ...sentences: readonly string[]): Step {
  return {
    state: { ...state, phase: 'asking' },
    effects: [...sentences.map((text) => ({ do: 'say' as const, text })), { do: 'ask', more: false }],
  };
}

export const unchanged = (state: Conversation): Step => ({ state, effects: [] });
