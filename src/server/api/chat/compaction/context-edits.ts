/**
 * server/api/chat/compaction owns what shortens a long conversation before the model reads it: clearing old tool results and
 * old thinking, and a summary by the model. It knows no dialect. This file: the edits as pure functions over turns.
 */
import type { Turn } from '../../../../contract/job.ts';
import type { ClearResults, ClearThinking, ContextEdit, Trigger } from '../../../engine/ports.ts';

const KEEP = 3;
const STEP = 4;

/** Cheapest first: old results, then a summary. Used by the model setting and by clients that only set a threshold. */
export function usualEdits(trigger: Trigger): ContextEdit[] {
  return [
    { kind: 'results', trigger, keep: KEEP, step: STEP, atLeastTokens: 0, exclude: [], clearsInputs: false },
    { kind: 'summary', trigger },
  ];
}

/** `compact` is `75%` of the window or a number of tokens; null: off. */
export function modelEdits(compact: string | null): ContextEdit[] {
  if (compact === null) return [];
  const value = Number.parseInt(compact, 10);
  const isShare = compact.endsWith('%');
  return usualEdits(isShare ? { of: 'window', value: value / 100 } : { of: 'tokens', value });
}

export const CLEARED = '[old result removed to save space]';

export interface Edited {
  readonly turns: readonly Turn[];
  readonly count: number;
}

export function clearResults(turns: readonly Turn[], edit: ClearResults): Edited {
  const clearable = turns.flatMap(({ role, name = '' }, at) =>
    role === 'tool' && !edit.exclude.includes(name) ? [at] : [],
  );
  const most = Math.max(0, clearable.length - edit.keep);
  const cleared = new Set(clearable.slice(0, most - (most % edit.step)));
  const ids = new Set(turns.flatMap(({ toolCallId }, at) => (cleared.has(at) ? [toolCallId] : [])));
  const edited = turns.map((turn, at): Turn => {
    if (cleared.has(at)) {
      const { media: _, ...rest } = turn;
      return { ...rest, content: CLEARED };
    }
    if (turn.toolCalls === undefined) return turn;
    const toolCalls = turn.toolCalls.map((call) =>
      ids.has(call.id) && clearsInput(edit, call.name) ? { ...call, argumentsJson: '{}' } : call,
    );
    return { ...turn, toolCalls };
  });
  return { turns: edited, count: cleared.size };
}

const clearsInput = ({ clearsInputs }: ClearResults, name: string): boolean =>
  typeof clearsInputs === 'boolean' ? clearsInputs : clearsInputs.includes(name);

export function clearThinking(turns: readonly Turn[], { keep }: ClearThinking): Edited {
  const thinking = turns.flatMap(({ reasoning }, at) => (reasoning === undefined ? [] : [at]));
  const cleared = new Set(thinking.slice(0, Math.max(0, thinking.length - keep)));
  const edited = turns.map((turn, at): Turn => {
    if (!cleared.has(at)) return turn;
    const { reasoning: _, ...rest } = turn;
    return rest;
  });
  return { turns: edited, count: cleared.size };
}

export const callsIn = (turns: readonly Turn[]): number => turns.filter(({ role }) => role === 'tool').length;

export function headEnd(turns: readonly Turn[]): number {
  const first = turns.findIndex(({ role }) => role !== 'system');
  if (first < 0) return turns.length;
  return turns[first]?.role === 'user' ? first + 1 : first;
}

/**
 * Start of the turns that stay unchanged: the latest `chars` characters, at least one step, and never between a call
 * and its result.
 */
export function tailStart(turns: readonly Turn[], chars: number): number {
  const starts = turns.flatMap(({ role }, at) => (role === 'tool' ? [] : [at]));
  let start = starts.at(-1) ?? turns.length;
  for (const at of starts.toReversed()) {
    if (countChars(turns.slice(at)) > chars) break;
    start = at;
  }
  return Math.max(start, headEnd(turns));
}

export function countChars(turns: readonly Turn[]): number {
  return turns.reduce((sum, { content, reasoning = '', toolCalls = [], media = [] }) => {
    const calls = toolCalls.reduce(
      (all, { name, argumentsJson }) => all + name.length + argumentsJson.length,
      0,
    );
    return sum + content.length + reasoning.length + calls + media.length * MEDIUM_CHARS + TURN_CHARS;
  }, 0);
}

const TURN_CHARS = 24;
/** Estimate for an image; only its projector knows its number of rows. */
const MEDIUM_CHARS = 1000;
