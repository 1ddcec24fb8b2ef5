/**
 * Detects tool calls in a loop: the same tool with the same arguments returns the same result repeatedly, and nothing
 * new happens in between. The count restarts with a changed result, other arguments, a new call, or text of the user.
 */
import type { GenerateJob, ToolCallTurn, Turn } from '../../../contract/job.ts';
import { CLEARED } from './compaction/context-edits.ts';
import { canonicalArguments } from '../intake/call-id.ts';
import { canonicalize } from '../../../lib/json/canonicalize.ts';

export const CALL_LIMIT = 5;

/** Calls that are compared; a longer loop is not detected. */
const MOST_CALLS_BACK = 256;
const CANONICAL_CHARS = 8_192;
/** Agents append their own reminders to results as text of the user; those do not restart the count. */
const REMINDERS = /^(?:\s*<system-reminder>[\s\S]*?<\/system-reminder>)+\s*$/;

type Call = Pick<ToolCallTurn, 'name' | 'argumentsJson'>;

/** 0: no call of this job is refused. A client that names the tool or has begun the answer wants this very call. */
export function callLimit({ prompt, lane, toolChoice, sampling }: GenerateJob): number {
  const isGuarded = prompt.kind === 'chat' && prompt.continues !== true && lane === 'shared';
  return isGuarded && toolChoice.mode !== 'named' ? (sampling.callGuard ?? CALL_LIMIT) : 0;
}

export const guardedAfter = (times: number): Pick<GenerateJob['sampling'], 'callGuard'> => ({
  callGuard: times,
});

/** Reports `call_guard` as ignored for recorded answers: a record needs exactly one answer to its prompt. */
export function idleGuard(fields: { readonly call_guard?: number | null }, isRecorded: boolean): string[] {
  return isRecorded && (fields.call_guard ?? 0) > 0 ? ['call_guard'] : [];
}

export class CallHistory {
  readonly #limit: number;
  readonly #turns: readonly Turn[];
  #counts: ReadonlyMap<string, number> | null = null;

  constructor({ turns, limit }: { readonly turns: readonly Turn[]; readonly limit: number }) {
    this.#turns = turns;
    this.#limit = limit;
  }

  refusedAfter(call: Call): number {
    if (this.#limit === 0) return 0;
    this.#counts ??= countRepeats(this.#turns);
    const times = this.#counts.get(callKey(call)) ?? 0;
    return times >= this.#limit ? times : 0;
  }
}

interface Seen {
  readonly result: string;
  readonly times: number;
  readonly news: number;
}

function countRepeats(turns: readonly Turn[]): ReadonlyMap<string, number> {
  const latest = new Map<string, Seen>();
  const results = new Map<string, Set<string>>();
  let news = 0;
  for (const { call, result } of answeredCalls(turns)) {
    const key = callKey(call);
    const known = results.get(key) ?? new Set();
    // A cleared result could have had any content.
    if (!known.has(result) || result === CLEARED) news += 1;
    results.set(key, known.add(result));
    const last = latest.get(key);
    const isSame = last !== undefined && last.result === result && last.news === news;
    latest.set(key, { result, news, times: isSame ? last.times + 1 : 1 });
  }
  return new Map([...latest].map(([key, seen]) => [key, seen.news === news ? seen.times : 0]));
}

/**
 * Times, dates, durations, and run ids such as the chunk ids of Codex: they differ in results that are otherwise
 * equal.
 */
const VARYING: readonly RegExp[] = [
  /\b\d{4}-\d\d-\d\d(?:[T ]\d\d?:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?(?:Z|[+-]\d\d:?\d\d)?/g,
  /\b\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?\b/g,
  /\b(?:chunk|session|call|request|trace|run|process)[ _-]?id\b["']?(?: ?[:=] ?| )["']?[\w-]{1,64}/gi,
  /\b\d{1,12}(?:\.\d{1,9})? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?)\b/g,
];
const VARYING_CHARS = 65_536;

function comparable(result: string): string {
  const varying = result.slice(0, VARYING_CHARS);
  const same = VARYING.reduce((text, each) => text.replaceAll(each, '…'), varying);
  return same + result.slice(VARYING_CHARS);
}

function answeredCalls(turns: readonly Turn[]): { call: Call; result: string }[] {
  const begin = turns.findLastIndex(({ role, content }) => role === 'user' && !REMINDERS.test(content)) + 1;
  const answered = turns.slice(begin).flatMap((turn, at, since) => {
    const calls = turn.toolCalls ?? [];
    const end = since.findIndex((other, index) => index > at && other.role === 'assistant');
    const results = since.slice(at + 1, end < 0 ? since.length : end).filter(({ role }) => role === 'tool');
    const seen = new Set<string>();
    return calls.flatMap((call, index) => {
      const own = results.find(({ toolCallId }) => toolCallId === call.id) ?? results[index];
      const text = `${call.name} ${call.argumentsJson}`;
      if (own === undefined || seen.has(text)) return [];
      seen.add(text);
      return [{ call, result: own.content === CLEARED ? CLEARED : comparable(own.content) }];
    });
  });
  return answered.slice(-MOST_CALLS_BACK);
}

function callKey({ name, argumentsJson }: Call): string {
  if (argumentsJson.length > CANONICAL_CHARS) return `${name} ${argumentsJson}`;
  return `${name} ${canonicalize(canonicalArguments(argumentsJson)) ?? argumentsJson}`;
}
