/**
 * api/prompt-cache owns what is told of the prompt cache afterwards: for each request why its prompt was evaluated, and a
 * warning to a client that changes its prompts at each turn. It knows nothing of slots, tiers or tokens' state. What it keeps
 * lies in memory, bounded, apart for each API key, and is never logged.
 */
import type { EarlierPrompt } from '../../contract/prompt-difference.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { SharedMap } from '../../lib/base/recent/shared-map.ts';
import { withoutStop } from '../../lib/errors/entry.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { CacheDifference, CacheReport } from '../../wire/prompt-cache.ts';
import type { Caller, RequestAccount } from '../caller.ts';
import { type CacheReason, originsOf, reasonOf, type Started, wordsFor } from './reasons.ts';

export interface CacheLogLimits {
  readonly reports: number;
  /** Clients, each with each model. */
  readonly clients: number;
}

export const CACHE_LOG_LIMITS: CacheLogLimits = { reports: 4_096, clients: 2_048 };
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

export class CacheLog {
  readonly #clock: Pick<Clock, 'unixMs'>;
  readonly #reports: SharedMap<string, CacheReport>;
  readonly #last: SharedMap<string, Last>;

  constructor(clock: Pick<Clock, 'unixMs'>, limits: CacheLogLimits = CACHE_LOG_LIMITS) {
    this.#clock = clock;
    this.#reports = new SharedMap({ entries: limits.reports });
    this.#last = new SharedMap({ entries: limits.clients });
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
    const report = this.#reports.get(`${owner}\n${requestId}`);
    if (report === undefined) throw fail('cache_report_not_found', { id: requestId, param: 'id' });
    return report;
  }

  /** Why the client's prompts are evaluated anew at each turn, in one sentence; null where it does not. */
  warning(caller: Caller, model: string): string | null {
    const last = this.#last.get(clientOf(caller, model));
    return last !== undefined && last.times >= WARN_FROM ? last.warning : null;
  }

  #note(caller: Caller, model: string, started: Started): void {
    const { owner, requestId } = caller;
    const client = clientOf(caller, model);
    const before = this.#last.get(client) ?? null;
    const reason = reasonOf(started, before);
    const created = Math.floor(this.#clock.unixMs() / 1000);
    const report = reportOf(started, reason, { request_id: requestId, model, created });
    this.#reports.set(`${owner}\n${requestId}`, report, { owner });
    this.#reports.trim();
    this.#last.set(client, lastOf(started, before, report), { owner });
    this.#last.trim();
  }
}

const clientOf = ({ owner, clientKey }: Caller, model: string): string => `${owner}\n${clientKey}\n${model}`;

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
