/**
 * api/prompt-cache owns what is told of the prompt cache afterwards: for each request why its prompt was evaluated, and a
 * warning to a client that changes its prompts at each turn. It knows nothing of slots, tiers or tokens' state. What it keeps
 * lies in memory, bounded, apart for each API key, and is never logged.
 */
import type { EarlierPrompt } from '../../contract/prompt-difference.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { withoutStop } from '../../lib/errors/entry.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { CacheDifference, CacheReport } from '../../wire/prompt-cache.ts';
import type { Caller, RequestAccount } from '../caller.ts';
import { type CacheReason, originsOf, reasonOf, type Started, wordsFor } from './reasons.ts';

export interface CacheLogLimits {
  readonly owners: number;
  /** Of one owner. */
  readonly reports: number;
  /** Clients of one owner, each with each model. */
  readonly clients: number;
}

export const CACHE_LOG_LIMITS: CacheLogLimits = { owners: 64, reports: 128, clients: 64 };
/** Requests in a row that part from the one before at the same place, from which on a client is warned. */
const WARN_FROM = 3;

/** What is known of a client's last request for a model. */
interface Last {
  readonly numCtx: number;
  /** Where and why the request parted from the one before; null where it did not. */
  readonly change: string | null;
  /** Requests in a row with that change. */
  readonly times: number;
  readonly warning: string;
}

interface Owned {
  readonly reports: Map<string, CacheReport>;
  readonly last: Map<string, Last>;
}

export class CacheLog {
  readonly #clock: Pick<Clock, 'unixMs'>;
  readonly #limits: CacheLogLimits;
  readonly #owners = new Map<string, Owned>();

  constructor(clock: Pick<Clock, 'unixMs'>, limits: CacheLogLimits = CACHE_LOG_LIMITS) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** An account that also notes how the prompt of a request was found. */
  watch(caller: Caller, model: string): RequestAccount {
    const { account } = caller;
    let isNoted = false;
    return {
      onModel: (id) => account?.onModel(id),
      onEvent: (event) => {
        account?.onEvent(event);
        if (event.type !== 'started' || isNoted) return;
        isNoted = true;
        this.#note(caller, model, event);
      },
      onCheck: (ms) => account?.onCheck?.(ms),
    };
  }

  /** Throws `cache_report_not_found`. */
  why(owner: string, requestId: string): CacheReport {
    const report = this.#owners.get(owner)?.reports.get(requestId);
    if (report === undefined) throw fail('cache_report_not_found', { id: requestId, param: 'id' });
    return report;
  }

  /** Why the client's prompts are evaluated anew at each turn, in one sentence; null where it does not. */
  warning(caller: Caller, model: string): string | null {
    const last = this.#owners.get(caller.owner)?.last.get(clientOf(caller, model));
    return last !== undefined && last.times >= WARN_FROM ? last.warning : null;
  }

  #note(caller: Caller, model: string, started: Started): void {
    const { reports, last } = this.#owned(caller.owner);
    const client = clientOf(caller, model);
    const before = last.get(client) ?? null;
    const reason = reasonOf(started, before);
    const created = Math.floor(this.#clock.unixMs() / 1000);
    const report = reportOf(started, reason, { request_id: caller.requestId, model, created });
    keep(reports, caller.requestId, report, this.#limits.reports);
    keep(last, client, lastOf(started, before, report), this.#limits.clients);
  }

  #owned(owner: string): Owned {
    const owned = this.#owners.get(owner) ?? { reports: new Map(), last: new Map() };
    keep(this.#owners, owner, owned, this.#limits.owners);
    return owned;
  }
}

const clientOf = ({ clientKey }: Caller, model: string): string => `${clientKey}\n${model}`;

/** As the newest; the oldest go. */
function keep<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}

type Named = Pick<CacheReport, 'request_id' | 'model' | 'created'>;

function reportOf(started: Started, reason: CacheReason, named: Named): CacheReport {
  const { promptTokens, cachedTokens, numCtx, earlier } = started;
  const { slotTokens, ramTokens, diskTokens, restoreMs } = originsOf(started);
  const difference = earlier?.difference;
  const { sentence, advice } = wordsFor(reason, difference);
  return {
    object: 'svc.cache_report',
    ...named,
    prompt_tokens: promptTokens,
    cached_tokens: cachedTokens,
    evaluated_tokens: promptTokens - cachedTokens,
    from: { slot: slotTokens, ram: ramTokens, disk: diskTokens },
    restore_ms: Math.round(restoreMs * 100) / 100,
    num_ctx: numCtx,
    reason,
    explanation: sentence,
    advice,
    difference: wireDifference(difference),
  };
}

export function wireDifference(difference: EarlierPrompt['difference']): CacheDifference | null {
  if (difference === undefined) return null;
  const { token, place, shared, before, now } = difference;
  return { token, place, shared, before, now };
}

function lastOf(
  { numCtx, earlier }: Started,
  before: Last | null,
  { reason, explanation }: CacheReport,
): Last {
  const difference = earlier?.difference;
  // Another question behind the same beginning is what a cache is for.
  const isRewritten = difference?.isHistory === true && difference.cause === reason;
  if (!isRewritten) return { numCtx, change: null, times: 0, warning: '' };
  const { kind, index } = difference.place;
  // Behind an answer the place moves on with the conversation.
  const change = `${reason} ${kind} ${reason === 'thinking_dropped' || reason === 'answer_retokenised' ? '' : index}`;
  const times = before?.change === change ? before.times + 1 : 1;
  return { numCtx, change, times, warning: `${withoutStop(explanation)}, at each turn` };
}
