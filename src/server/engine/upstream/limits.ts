import type { JsonLimits } from '../../../lib/json/json-scan.ts';
import type { Deadlines } from './ports.ts';

export const DEFAULT_DEADLINES: Deadlines = {
  connectMs: 5_000,
  // Chosen: a long prompt on a slow machine, queued after others.
  firstByteMs: 300_000,
  stallMs: 60_000,
  wholeMs: 3_600_000,
};

export const DEFAULT_MAX_CALLS = 256;

/** Size of an answer read whole; it is read in slices, so these bound memory and not the loop's delay. */
export interface AnswerLimits {
  readonly bytes: number;
  readonly json: JsonLimits;
}

const DEPTH = 64;

export const LIST_LIMITS: AnswerLimits = { bytes: 4 * 1024 * 1024, json: { depth: DEPTH, tokens: 200_000 } };

/** Facts of one model, load or identity; a chat template is the longest of them. */
export const FACTS_LIMITS: AnswerLimits = { bytes: 1024 * 1024, json: { depth: DEPTH, tokens: 20_000 } };

/** Numbers of one vector; no known model has wider ones. */
export const MOST_NUMBERS = 16_384;

/** A number takes up to 26 characters. */
export function vectorsLimits(count: number): AnswerLimits {
  return {
    bytes: Math.min(256 * 1024 * 1024, 64 * 1024 + count * MOST_NUMBERS * 26),
    json: { depth: DEPTH, tokens: 1_000 + count * 16, numbers: MOST_NUMBERS },
  };
}

/** One event of a stream; log probabilities have most values. */
export const EVENT_JSON: JsonLimits = { depth: DEPTH, tokens: 100_000 };

export const ARGUMENTS_LIMITS = { chars: 1024 * 1024, depth: DEPTH, tokens: 40_000 } as const;

export const UPSTREAM_LIMITS = {
  /** One event of a stream, characters; whole tool calls arrive in one. */
  eventChars: 1024 * 1024,
  /** Characters of events parsed at once; more are parsed in slices. */
  atOnceChars: 8 * 1024,
  /** One stream; a token with log probabilities takes about 2,000 bytes. */
  streamBytes: 64 * 1024 * 1024,
  /** Characters of a whole answer; a token has about four. */
  saidChars: 4 * 1024 * 1024,
  pageBytes: 1024 * 1024,
  refusalBytes: 64 * 1024,
  messageChars: 500,
  asksAtOnce: 8,
  models: 1_000,
  nameChars: 256,
  askMs: 5_000,
  idleSockets: 64,
  idleMs: 30_000,
  /** Time for a finished answer to close, so that its connection can be reused. */
  closeMs: 1_000,
} as const;
