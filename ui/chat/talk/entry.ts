import type { ToolCall } from '../../../src/wire/inference/tool-envelope.ts';
import type { Attachment } from './attachments.ts';

/** From the service, or `stopped` by the user, or `cut` because its page was closed. */
export const FINISHES = ['stop', 'length', 'tool_calls', 'repetition', 'stopped', 'cut'] as const;
export type Finish = (typeof FINISHES)[number];

export interface Measures {
  readonly firstMs: number | null;
  readonly tokensPerSecond: number | null;
  readonly promptTokens?: number;
  readonly cachedTokens?: number;
  readonly answerTokens: number;
  /** In tokens; absent: unknown. */
  readonly window?: number;
  /** Figures of a stopped answer, counted here by its chunks. */
  readonly isEstimate?: true;
  readonly draftedTokens: number;
}

export interface Entry {
  readonly id: string;
  readonly parent: string | null;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  /** Precede the text in the request. */
  readonly files?: readonly Attachment[];
  readonly reasoning?: string;
  readonly calls?: readonly ToolCall[];
  readonly callId?: string;
  readonly model?: string;
  /** Absent while the answer is being made, and if it failed. */
  readonly finish?: Finish;
  /** A tab is writing it, or was when it was closed. */
  readonly isOpen?: true;
  readonly isEdited?: true;
  /** Shared by versions of one answer; absent: all children of the parent are versions. */
  readonly tries?: string;
  readonly asked?: Asked;
  readonly failure?: string;
  readonly failureCode?: string;
  readonly remarks?: readonly string[];
  readonly proof?: Proof;
  readonly measures?: Measures;
}

export interface Proof {
  /** The response and the request, byte for byte. */
  readonly record: string;
  readonly request: string;
  readonly verdict: string;
  readonly isVerified: boolean;
  /** Imported from a file and not checked in this browser. */
  readonly isUnchecked?: true;
}

export interface Asked {
  /** As requested, which may be the name of the default. */
  readonly model?: string;
  readonly isJson: boolean;
  readonly limit: number | null;
}

export function closed(entry: Entry): Entry {
  const { isOpen: _, ...rest } = entry;
  return rest;
}
