import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';

/** Chosen: at least half of each tier stays for everything else. */
export const PIN_SHARE = 0.5;

/** Chosen: each is compared with all stored prompts. */
export const MOST_PINS = 16;

/** A prefix by length and digest; neither text nor tokens are stored. */
export const PinnedPrefix = Type.Object({
  /** Trust domain and adapters. */
  owner: Type.String(),
  tokens: Type.Integer({ minimum: 1 }),
  /** Digest of the tokens, hex. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});
export type PinnedPrefix = Static<typeof PinnedPrefix>;

export function pinnedPrefix(owner: string, tokens: Uint32Array): PinnedPrefix {
  return { owner, tokens: tokens.length, sha256: hash(tokens) };
}

export function beginsWith(tokens: Uint32Array, pin: Omit<PinnedPrefix, 'owner'>): boolean {
  return tokens.length >= pin.tokens && hash(tokens.subarray(0, pin.tokens)) === pin.sha256;
}

export const isSamePin = (one: PinnedPrefix, other: PinnedPrefix): boolean =>
  one.owner === other.owner && one.tokens === other.tokens && one.sha256 === other.sha256;

function hash(tokens: Uint32Array): string {
  const bytes = Buffer.alloc(tokens.length * 4);
  for (const [at, token] of tokens.entries()) bytes.writeUInt32LE(token, at * 4);
  return createHash('sha256').update(bytes).digest('hex');
}
