import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobEvent, SampledToken } from '../../../contract/job-event.ts';
import { JoinedPieces } from './joined-pieces.ts';

const token = (text: string): SampledToken => ({ chosen: { text, bytes: [], logprob: 0 }, top: [] });

const events = fc.oneof(
  fc.record({ type: fc.constant('reasoning' as const), text: fc.string() }),
  fc.record({ type: fc.constant('tool_arguments' as const), text: fc.string() }),
  fc.record({ type: fc.constant('tool_call' as const), name: fc.constant('f') }),
  fc.record({ type: fc.constant('text' as const), text: fc.string() }),
  fc
    .tuple(fc.string(), fc.integer({ min: 1, max: 600 }))
    .map(([text, count]) => ({ type: 'text' as const, text, tokens: Array(count).fill(token(text)) })),
);

/** What a reader of the whole answer makes of events: the text of each run of one kind, and the reported tokens. */
function read(all: readonly JobEvent[]) {
  const runs: { type: string; text: string }[] = [];
  for (const event of all) {
    const text = 'text' in event ? event.text : '';
    const last = runs.at(-1);
    if (last?.type === event.type && 'text' in event) last.text += text;
    else runs.push({ type: event.type, text });
  }
  return { runs, tokens: all.flatMap((event) => (event.type === 'text' ? (event.tokens ?? []) : [])) };
}

const piecesOf = (event: JobEvent): number =>
  'text' in event && 'pieces' in event ? (event.pieces ?? 1) : 1;

describe('joined pieces', () => {
  it('say the same in the same order, and count every piece', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 200 }), (said) => {
        const joined = new JoinedPieces();
        const sent = [...said.flatMap((event) => joined.push(event)), ...joined.flush()];
        expect(read(sent)).toEqual(read(said));
        expect(sent.reduce((sum, event) => sum + piecesOf(event), 0)).toBe(said.length);
        for (const event of sent)
          if (event.type === 'text') expect((event.tokens ?? []).length).toBeLessThanOrEqual(1_024);
      }),
    );
  });

  it('leave at once at the beginning, and then 32 at a time', () => {
    const joined = new JoinedPieces();
    const sent = Array.from({ length: 70 }, () => joined.push({ type: 'text', text: 'x' }).length);
    expect(sent.flatMap((count, at) => (count > 0 ? [at] : []))).toEqual([0, 32, 64]);
    expect(joined.flush()).toEqual([{ type: 'text', text: 'xxxxx', pieces: 5 }]);
  });
});
