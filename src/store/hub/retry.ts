/** Retries network failures with growing, jittered waits. Failures that would repeat are not retried. */
import { setTimeout as delay } from 'node:timers/promises';
import { catalogueEntry } from '../../lib/errors/catalogue.ts';
import { isFailure, isSvcError, errorMessage } from '../../lib/errors/svc-error.ts';
import type { OnInstallEvent } from '../install/install-event.ts';

export interface RetryPolicy {
  readonly tries: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const USUAL_RETRIES: RetryPolicy = { tries: 6, firstDelayMs: 500, longestDelayMs: 30_000 };

/** If nothing answers at all, the user waits because of a typo or a missing network; a short outage is over by then. */
const FIRST_CONTACT_TRIES = 2;
const NO_CONTACT = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH']);

/** If a hub wants a longer wait, the user gets the error. */
const LONGEST_RATE_LIMIT_S = 120;
/** Progress resets the count of tries, but a link that keeps breaking is given up in the end. */
const MOST_TRIES = 200;

export interface Attempt {
  readonly progressed: () => void;
}

export interface RetryOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: OnInstallEvent;
  /** True before the first response of this hub: an unreachable one is given up early. */
  readonly isFirstContact?: boolean;
}

export async function withRetries<T>(
  policy: RetryPolicy,
  options: RetryOptions,
  run: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  let fruitless = 0;
  for (let tries = 1; ; tries += 1) {
    fruitless += 1;
    try {
      return await run({
        progressed: () => {
          fruitless = 0;
        },
      });
    } catch (error) {
      options.signal?.throwIfAborted();
      const delayMs = delayBefore(policy, fruitless, error);
      const isHopeless =
        options.isFirstContact === true && isNoContact(error) && tries >= FIRST_CONTACT_TRIES;
      if (delayMs === null || isHopeless || fruitless >= policy.tries || tries >= MOST_TRIES) throw error;
      const reason = errorMessage(error);
      options.onEvent?.({ status: 'retrying', reason, attempt: tries + 1, delayMs });
      await delay(delayMs, undefined, options.signal ? { signal: options.signal } : {});
    }
  }
}

function isNoContact(error: unknown): boolean {
  return isFailure(error, 'hub_unreachable') && NO_CONTACT.has(error.detail.reason);
}

function delayBefore(policy: RetryPolicy, fruitless: number, error: unknown): number | null {
  if (!isSvcError(error) || !catalogueEntry(error.code).retryable) return null;
  if ('retryAfterS' in error.detail) {
    const askedS = error.detail.retryAfterS;
    return askedS > LONGEST_RATE_LIMIT_S ? null : askedS * 1000;
  }
  const ceiling = Math.min(policy.firstDelayMs * 2 ** fruitless, policy.longestDelayMs);
  return Math.round(ceiling * (0.5 + Math.random() / 2));
}
