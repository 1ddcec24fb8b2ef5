/** Reasons why the prompt of each request was evaluated. Kept in memory, bounded per API key, and never logged. */
import type { CacheFacts, CacheMissReason, JobEvent } from '../../contract/job-event.ts';
import { missReason, SLACK } from '../../contract/prompt-difference.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { SharedMap } from '../../lib/base/shared-map.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { LATEST } from '../../wire/operation/requests.ts';
import type { CacheReport } from '../../wire/prompt-cache.ts';
import type { Caller, RequestAccount } from './caller.ts';

const MOST_REPORTS = 4_096;

type Started = Extract<JobEvent, { type: 'started' }>;
type CacheReason = 'continued' | CacheMissReason;

interface Words {
  readonly sentence: string;
  readonly advice: string | null;
}

const WORDS: Readonly<Record<CacheReason, Words>> = {
  continued: { sentence: 'All that was known of the prompt was reused.', advice: null },
  cold: {
    sentence: 'No earlier prompt that begins like it is known since the model was loaded.',
    advice:
      'If there was one: keep the model loaded for longer (SVC_KEEP_ALIVE), and send the same num_ctx each time.',
  },
  differs: {
    sentence: 'The prompt differs from the earlier one before its end.',
    advice:
      'Append to a conversation and rewrite nothing: the same tools in the same order, answers as they were given, times in the last message.',
  },
  evicted: {
    sentence: 'Its state was there and gave way to other conversations.',
    advice: 'Run fewer conversations at a time, or give the model more slots: SVC_NUM_PARALLEL.',
  },
  no_checkpoint: {
    sentence:
      'The memory of this model cannot be cut back to where the prompts differ, only to the end of an earlier prompt.',
    advice: 'Append to the conversation; what is rewritten costs everything since the last such end.',
  },
  damaged: { sentence: 'Its state on the disk was damaged and was not used.', advice: null },
  not_worth: {
    sentence: 'Bringing its state into the slot would have taken longer than evaluating it.',
    advice: null,
  },
  not_restored: { sentence: 'Its state was there and could not be restored.', advice: null },
};

export class CacheLog {
  readonly #clock: Pick<Clock, 'unixMs'>;
  readonly #reports: SharedMap<string, CacheReport>;

  constructor(clock: Pick<Clock, 'unixMs'>, mostReports = MOST_REPORTS) {
    this.#clock = clock;
    this.#reports = new SharedMap({ entries: mostReports });
  }

  watch({ account, owner, requestId }: Caller, model: string): RequestAccount {
    let isNoted = false;
    return {
      onModel: (id) => account?.onModel(id),
      onEvent: (event) => {
        account?.onEvent(event);
        if (event.type !== 'started' || isNoted) return;
        isNoted = true;
        const created = Math.floor(this.#clock.unixMs() / 1000);
        const report = makeReport(event, { request_id: requestId, model, created });
        this.#reports.set(`${owner}\n${requestId}`, report, { owner });
        this.#reports.trim();
      },
      onCheck: (ms) => account?.onCheck?.(ms),
    };
  }

  /** `last`: the latest of the owner. */
  why(owner: string, requestId: string): CacheReport {
    const report = this.#reports.get(`${owner}\n${requestId}`) ?? this.#last(owner, requestId);
    if (report === undefined) throw fail('cache_report_not_found', { id: requestId, param: 'id' });
    return report;
  }

  #last(owner: string, asked: string): CacheReport | undefined {
    if (asked !== LATEST) return undefined;
    const reports = [...this.#reports.entries()];
    return reports.findLast(([key]) => key.startsWith(`${owner}\n`))?.[1];
  }
}

function makeReport(
  started: Started,
  named: Pick<CacheReport, 'request_id' | 'model' | 'created'>,
): CacheReport {
  const { promptTokens, cachedTokens, numCtx, earlier } = started;
  const { slotTokens, ramTokens, diskTokens, restoreMs } = tokenOrigins(started);
  const reason = cacheReason(started);
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
    explanation: WORDS[reason].sentence,
    advice: WORDS[reason].advice,
    difference: earlier?.difference ?? null,
  };
}

function cacheReason(started: Started): CacheReason {
  const isKnown = started.earlier !== undefined || started.cachedTokens > SLACK;
  return missReason(started) ?? (isKnown ? 'continued' : 'cold');
}

export function tokenOrigins({
  cachedTokens,
  cache,
}: {
  readonly cachedTokens: number;
  readonly cache?: CacheFacts | undefined;
}): Omit<CacheFacts, 'miss'> {
  return cache ?? { slotTokens: cachedTokens, ramTokens: 0, diskTokens: 0, restoreMs: 0 };
}
