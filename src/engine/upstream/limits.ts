/** What one upstream may cost, whatever it sends. */
import type { Deadlines } from './ports.ts';

export const DEFAULT_DEADLINES: Deadlines = {
  connectMs: 5_000,
  // A long prompt on a slow machine, behind others.
  firstByteMs: 300_000,
  stallMs: 60_000,
  wholeMs: 3_600_000,
};

/** Calls that run at one upstream at the same time when its user named no number. */
export const DEFAULT_MAX_CALLS = 256;

export const UPSTREAM_LIMITS = {
  /** One event of a stream, characters; whole tool calls arrive in one. */
  eventChars: 4 * 1024 * 1024,
  /** All bytes of one answer. */
  answerBytes: 256 * 1024 * 1024,
  /** A list of models, a page of metrics, the body of a refusal. */
  pageBytes: 4 * 1024 * 1024,
  refusalBytes: 64 * 1024,
  /** Of a refusal's own words, how many characters are passed on. */
  messageChars: 500,
  models: 1_000,
  nameChars: 256,
  /** A question beside jobs: models, health, metrics. */
  askMs: 5_000,
  /** Idle connections that are kept, and for how long. */
  idleSockets: 64,
  idleMs: 30_000,
  /** How long a finished answer may take to close, so that its connection can be used again. */
  closeMs: 1_000,
} as const;
