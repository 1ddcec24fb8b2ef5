/**
 * The plain planner: every decode row in one call, then one bounded chunk of the prompt that came first. No padding, no
 * drafts, nothing measured. It is what the tuned planner has to beat (bench: planner).
 */
import type { EvaluatedCall, PlannedCall, StepPlan, StepPlanner, StepState } from './step-planner.ts';
import { ASSUMED_PREFILL_MS_PER_TOKEN, PLAIN_CHUNK_TOKENS } from './tuning.ts';

export class PlainPlanner implements StepPlanner {
  readonly maxDraftTokens = 0;
  #decodeMs = 0;

  plan({ decoding, prefilling }: StepState): StepPlan {
    const [next] = [...prefilling].sort((a, b) => a.arrivedMs - b.arrivedMs);
    const tokens = Math.min(next?.remaining ?? 0, PLAIN_CHUNK_TOKENS);
    const calls: readonly PlannedCall[] = [
      {
        phase: 'decode',
        rows: decoding.map(({ sequence, position }) => ({
          kind: 'decode',
          sequence,
          position,
          tokens: 1,
          padding: 0,
        })),
        expectedMs: this.#decodeMs,
      },
      {
        phase: 'prefill',
        rows: next
          ? [{ kind: 'prefill', sequence: next.sequence, position: next.position, tokens, padding: 0 }]
          : [],
        expectedMs: tokens * ASSUMED_PREFILL_MS_PER_TOKEN,
      },
    ];
    return { calls: calls.filter(({ rows }) => rows.length > 0) };
  }

  observe({ phase, ms }: EvaluatedCall): void {
    if (phase === 'decode') this.#decodeMs = ms;
  }

  lingerMs(): number {
    return 0;
  }
}
