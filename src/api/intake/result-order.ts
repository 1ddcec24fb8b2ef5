import type { Turn } from '../../contract/job.ts';

/**
 * The turns with the results of tools in the order of their calls: clients send them as they come, but many templates
 * write no ids, so that a model can tell results apart by their order alone. A result whose call is not found stays
 * behind the others.
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
