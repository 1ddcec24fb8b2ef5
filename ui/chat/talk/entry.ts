/** One message of a conversation: what was said, and what is known of how it came to be. */
import type { ToolCall } from '../../../src/wire/inference/tool-envelope.ts';
import type { Attachment } from './attachments.ts';

/** Why an answer ended: as the service says, `stopped` by the user, or `cut` because its page was closed. */
export const FINISHES = ['stop', 'length', 'tool_calls', 'repetition', 'stopped', 'cut'] as const;
export type Finish = (typeof FINISHES)[number];

export interface Measures {
  readonly firstMs: number | null;
  readonly tokensPerSecond: number | null;
  /** Absent where an answer was stopped before the service reported it. */
  readonly promptTokens?: number;
  readonly cachedTokens?: number;
  readonly answerTokens: number;
  /** The context window that it was written in, tokens; absent: not known. */
  readonly window?: number;
  /** The figures of a stopped answer are counted here, by the pieces that came. */
  readonly isEstimate?: true;
  readonly draftedTokens: number;
}

export interface Entry {
  readonly id: string;
  readonly parent: string | null;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  /** Files of a message, which the model reads before its text. */
  readonly files?: readonly Attachment[];
  readonly reasoning?: string;
  readonly calls?: readonly ToolCall[];
  /** Which call a tool entry answers. */
  readonly callId?: string;
  readonly model?: string;
  /** Absent while the answer is being made, and where it failed. */
  readonly finish?: Finish;
  /** A tab is writing it, or was when it was closed. */
  readonly isOpen?: true;
  /** The user wrote it in the place of what the model had said. */
  readonly isEdited?: true;
  /** Entries that were tried for one another have it in common; absent: all of one parent were. */
  readonly tries?: string;
  /** What the answer had to be, and where it had to end, as far as that was asked for. */
  readonly asked?: Asked;
  readonly failure?: string;
  readonly failureCode?: string;
  readonly remarks?: readonly string[];
  /** Its record, where it was asked for as a signed answer. */
  readonly proof?: Proof;
  readonly measures?: Measures;
}

/** A signed record, and what its check in this browser said. */
export interface Proof {
  /** The response and the request, byte for byte. */
  readonly record: string;
  readonly request: string;
  readonly verdict: string;
  readonly isVerified: boolean;
  /** It came with a file, and this browser has not checked it yet. */
  readonly isUnchecked?: true;
}

/** What an answer was asked to be. */
export interface Asked {
  /** The name that was asked for, which may be that of whichever model is the default. */
  readonly model?: string;
  readonly isJson: boolean;
  /** Tokens at most. */
  readonly limit: number | null;
}

/** An entry that nobody writes any more. */
export function closed(entry: Entry): Entry {
  const { isOpen: _, ...rest } = entry;
  return rest;
}
