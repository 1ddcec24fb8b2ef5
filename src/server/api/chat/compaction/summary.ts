import { createHash, randomUUID } from 'node:crypto';
import type { GenerateJob, Turn } from '../../../../contract/job.ts';
import { RecentTexts } from '../../../../lib/base/recent-texts.ts';

export type ChatJob = GenerateJob & { readonly prompt: Extract<GenerateJob['prompt'], { kind: 'chat' }> };

const ASK =
  'Summarise this conversation, so that the work can go on from the summary alone: what the user wants, what was done and found ' +
  '(with the names of files, values and commands), and what is left to do. Call no tool. Write only the summary.';
const OPENING = 'Summary of the conversation so far, made to save space:\n\n';
const SUMMARY_TOKENS = 1_024;
const MOST_SHARE = 1 / 8;

/**
 * The turns are cached and the question comes after them; the tools stay in the prompt so that it still matches the
 * cache.
 */
export function summaryJob(
  job: ChatJob,
  turns: readonly Turn[],
  how: { numCtx: number; tools: boolean; instructions?: string | undefined },
): ChatJob {
  const most = how.numCtx > 0 ? Math.floor(how.numCtx * MOST_SHARE) : SUMMARY_TOKENS;
  return {
    ...job,
    jobId: `${job.jobId}.${randomUUID()}`,
    prompt: { kind: 'chat', turns: [...turns, { role: 'user', content: how.instructions ?? ASK }] },
    toolChoice: { mode: how.tools ? 'auto' : 'none' },
    format: { kind: 'text' },
    reasoning: { ...job.reasoning, enabled: false },
    maxCalls: 1,
    maxTokens: Math.max(1, Math.min(SUMMARY_TOKENS, most)),
    stop: [],
    topLogprobs: null,
  };
}

export const summaryTurn = (summary: string): Turn => ({ role: 'user', content: OPENING + summary });

export function summaryIn(turns: readonly Turn[]): string | null {
  const found = turns.findLast(({ role, content }) => role === 'user' && content.startsWith(OPENING));
  return found === undefined ? null : found.content.slice(OPENING.length);
}

interface Kept {
  readonly end: number;
  readonly summary: string;
}

/** Summaries by the turns that they replace. A client that does not know them sends those turns again. */
export class SummaryBook {
  readonly #kept = new RecentTexts<Kept>({ entries: 256, chars: 1_000_000 }, ({ summary }) => summary.length);

  find(owner: string, turns: readonly Turn[]): Kept | undefined {
    const names = prefixKeys(owner, turns);
    return names.map((name) => this.#kept.get(name)).findLast((kept) => kept !== undefined);
  }

  keep(owner: string, turns: readonly Turn[], summary: string): void {
    const name = prefixKeys(owner, turns).at(-1);
    if (name !== undefined) this.#kept.set(name, { end: turns.length, summary }, owner);
  }
}

function prefixKeys(owner: string, turns: readonly Turn[]): string[] {
  let name = owner;
  return turns.map((turn) => {
    name = createHash('sha256').update(name).update(JSON.stringify(turn)).digest('base64');
    return name;
  });
}
