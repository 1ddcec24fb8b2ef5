/**
 * The plain planner: every decode row, then one bounded chunk of the prompt that came first. No padding, no drafts, no
 * coalescing, the first free sequence. It is what the tuned planner has to beat (bench: planner).
 */
import type { EvaluatedCall, SequenceQuestion, StepPlan, StepPlanner, StepState } from './step-planner.ts';
import { ASSUMED_PREFILL_MS_PER_TOKEN, PLAIN_CHUNK_TOKENS } from './tuning.ts';

export class PlainPlanner implements StepPlanner {
  readonly maxDraftTokens = 0;
  readonly prefillMsPerToken = ASSUMED_PREFILL_MS_PER_TOKEN;
  #decodeMs = 0;

  plan({ decoding, prefilling }: StepState): StepPlan {
    const [next] = [...prefilling].sort((a, b) => a.arrivedMs - b.arrivedMs);
    const tokens = Math.min(next?.remaining ?? 0, PLAIN_CHUNK_TOKENS);
    return {
      decode: decoding.map(({ sequence }) => ({ kind: 'decode', sequence, tokens: 1, padding: 0 })),
      prefill: next ? [{ kind: 'prefill', sequence: next.sequence, tokens, padding: 0 }] : [],
      decodeMs: this.#decodeMs,
    };
  }

  observe({ phase, ms }: EvaluatedCall): void {
    if (phase === 'decode') this.#decodeMs = ms;
  }

  chooseSequence({ free }: SequenceQuestion): number {
    return free[0]?.sequence ?? 0;
  }

  lingerMs(): number {
    return 0;
  }
}
