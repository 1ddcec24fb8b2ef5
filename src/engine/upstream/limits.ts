/** Limits of the cost of one upstream, whatever it sends. */
import type { JsonLimits } from '../../lib/json/json-scan.ts';
import type { Deadlines } from './ports.ts';

export const DEFAULT_DEADLINES: Deadlines = {
  connectMs: 5_000,
  // A long prompt on a slow machine, after others.
  firstByteMs: 300_000,
  stallMs: 60_000,
  wholeMs: 3_600_000,
};

/** Parallel calls of one upstream whose user named no number. */
export const DEFAULT_MAX_CALLS = 256;

/** Size of an answer that is read whole; it is read in slices, so these bound memory and not the loop's delay. */
export interface AnswerLimits {
  readonly bytes: number;
  readonly json: JsonLimits;
}

const DEPTH = 64;

/** Of a list of models. */
export const LIST_LIMITS: AnswerLimits = { bytes: 4 * 1024 * 1024, json: { depth: DEPTH, tokens: 200_000 } };

/** Of facts about one model, its load or its identity; a chat template is the longest of them. */
export const FACTS_LIMITS: AnswerLimits = { bytes: 1024 * 1024, json: { depth: DEPTH, tokens: 20_000 } };

/** Numbers of one vector; no model gives wider ones. */
export const MOST_NUMBERS = 16_384;

/** Of this number of vectors: their numbers take up to 26 characters each. */
export function vectorsLimits(count: number): AnswerLimits {
  return {
    bytes: Math.min(256 * 1024 * 1024, 64 * 1024 + count * MOST_NUMBERS * 26),
    json: { depth: DEPTH, tokens: 1_000 + count * 16, numbers: MOST_NUMBERS },
  };
}

/** Of one event of a stream: log probabilities have most values. */
export const EVENT_JSON: JsonLimits = { depth: DEPTH, tokens: 100_000 };

/** Of the arguments of one tool call, which are parsed at once on the way to the client. */
export const ARGUMENTS_LIMITS = { chars: 1024 * 1024, depth: DEPTH, tokens: 40_000 } as const;

export const UPSTREAM_LIMITS = {
  /** One event of a stream, characters; whole tool calls arrive in one. */
  eventChars: 1024 * 1024,
  /** Characters of events that are parsed at once; more are parsed in slices. */
  atOnceChars: 8 * 1024,
  /** All bytes of a stream; with log probabilities, a token takes some two thousand. */
  streamBytes: 64 * 1024 * 1024,
  /** Characters of a whole answer; a token has about four. */
  saidChars: 4 * 1024 * 1024,
  /** A page of metrics, or one that only has to arrive. */
  pageBytes: 1024 * 1024,
  refusalBytes: 64 * 1024,
  /** Characters of a refusal's message that are passed on. */
  messageChars: 500,
  /** Models that one upstream is asked about at the same time. */
  asksAtOnce: 8,
  models: 1_000,
  nameChars: 256,
  /** A question outside jobs: models, health, metrics. */
  askMs: 5_000,
  /** Idle connections that are kept, and for how long. */
  idleSockets: 64,
  idleMs: 30_000,
  /** Time that a finished answer may take to close, so that its connection can be reused. */
  closeMs: 1_000,
} as const;
