import { createHash } from 'node:crypto';
import { RANDOM_DEVICE_SEED } from '../../contract/sampling.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { canonicalJson, sha256Hex } from '../identity/canonical.ts';
import type { Predicate } from './statement.ts';

const SEED_DOMAIN = 'svc-frozen-v1\0';

export interface FrozenRequest {
  readonly rawSha256: string;
  readonly canonicalSha256: string;
  readonly seed: number;
  readonly temperature: number;
  /** Unix milliseconds, a whole second. */
  readonly templateClockMs: number;
  readonly defaulted: readonly string[];
  readonly nonce: string | null;
  readonly route?: Predicate['request']['route'] | undefined;
}

export type NamedRequest = Pick<FrozenRequest, 'rawSha256' | 'canonicalSha256' | 'nonce'>;

export function nameRequest(
  rawBody: Uint8Array,
  parsedBody: Readonly<Record<string, unknown>>,
  nonce: string | null,
): NamedRequest {
  const canonicalSha256 = sha256Hex(canonicalJson(parsedBody));
  return { rawSha256: sha256Hex(rawBody), canonicalSha256, nonce };
}

/**
 * `rawBody` is the body as the socket delivered it; the scanner has refused duplicate keys already. Throws for a body
 * without a canonical form, and for a seed that means randomness.
 */
export function freezeRequest(
  rawBody: Uint8Array,
  parsedBody: Readonly<Record<string, unknown>>,
  options: { readonly nowMs: number } & Pick<FrozenRequest, 'nonce' | 'route'>,
): FrozenRequest {
  const named = nameRequest(rawBody, parsedBody, options.nonce);
  const { seed: asked, temperature } = parsedBody;
  // -1 requests a random seed from other servers.
  const seed = asked === -1 ? null : asked;
  const defaulted: string[] = [];
  if (typeof temperature !== 'number') defaulted.push('temperature');
  if (typeof seed !== 'number') defaulted.push('seed');
  return {
    ...named,
    seed: typeof seed === 'number' ? checkedSeed(seed) : derivedSeed(named.canonicalSha256),
    temperature: typeof temperature === 'number' ? temperature : 0,
    templateClockMs: Math.floor(options.nowMs / 1000) * 1000,
    defaulted,
    ...(options.route === undefined ? {} : { route: options.route }),
  };
}

/** First big-endian u32 of SHA-256("svc-frozen-v1\0" ‖ digest bytes) that does not mean "random". */
export function derivedSeed(canonicalSha256: string): number {
  const digest = createHash('sha256')
    .update(SEED_DOMAIN)
    .update(Buffer.from(canonicalSha256, 'hex'))
    .digest();
  for (let offset = 0; offset < digest.length; offset += 4) {
    const seed = digest.readUInt32BE(offset);
    if (seed !== RANDOM_DEVICE_SEED) return seed;
  }
  return 0;
}

function checkedSeed(seed: number): number {
  if (Number.isInteger(seed) && seed >= 0 && seed < RANDOM_DEVICE_SEED) return seed;
  throw fail('unsupported_value', {
    param: 'seed',
    message: `seed must be an integer from 0 to ${RANDOM_DEVICE_SEED - 1} in mode frozen-v1, because the engine reads ${RANDOM_DEVICE_SEED} as a random seed.`,
  });
}

/** Printable ASCII, so that it can be signed and sent in a header. */
export const isNonce = (text: string): boolean => /^[\x21-\x7e]{1,128}$/.test(text);
