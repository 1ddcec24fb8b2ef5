import type { Turn } from '../../../contract/job.ts';

/**
 * Orders the results of tools like their calls: clients send them in any order, and many templates write no ids, so a
 * model can distinguish them only by their order. A result without a known call comes after the others.
 */
export function orderResults(turns: readonly Turn[]): Turn[] {
  const ordered: Turn[] = [];
  let calls: readonly string[] = [];
  for (let at = 0; at < turns.length; ) {
    const turn = turns[at];
    if (turn === undefined) break;
    if (turn.role !== 'tool') {
      calls = turn.toolCalls?.map(({ id }) => id) ?? [];
      ordered.push(turn);
      at += 1;
      continue;
    }
    const end = turns.findIndex(({ role }, index) => index > at && role !== 'tool');
    const results = turns.slice(at, end < 0 ? turns.length : end);
    ordered.push(...results.toSorted((a, b) => place(calls, a) - place(calls, b)));
    at += results.length;
  }
  return ordered;
}

function place(calls: readonly string[], { toolCallId }: Turn): number {
  const at = toolCallId === undefined ? -1 : calls.indexOf(toolCallId);
  return at < 0 ? calls.length : at;
}
