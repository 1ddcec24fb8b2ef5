/** How fast each slot works, from one report of its worker to the next. Pure. */
import type { SlotStates, SlotWork } from '../../contract/slots.ts';

interface Reading {
  readonly phase: SlotWork['phase'];
  readonly tokens: number;
  readonly atMs: number;
  /** Null until there are two readings of a phase. */
  readonly perS: number | null;
}

export class SlotRates {
  readonly #models = new Map<string, ReadonlyMap<string, Reading>>();

  /** A report; what it does not name is over. */
  note(modelId: string, slots: SlotStates, nowMs: number): void {
    const before = this.#models.get(modelId);
    const works = slots.flatMap(({ work }) => work ?? []);
    this.#models.set(
      modelId,
      new Map(works.map((work) => [work.jobId, reading(work, nowMs, before?.get(work.jobId))])),
    );
  }

  /** Tokens per second of the present phase; null where that is not known yet. */
  of(modelId: string, jobId: string): number | null {
    return this.#models.get(modelId)?.get(jobId)?.perS ?? null;
  }
}

/** Half of the last rate is kept, so that a figure does not flicker from step to step. */
function reading(work: SlotWork, atMs: number, before: Reading | undefined): Reading {
  const { phase } = work;
  const tokens = phase === 'prefill' ? work.evaluatedTokens : work.writtenTokens;
  if (before?.phase !== phase || atMs <= before.atMs) return { phase, tokens, atMs, perS: null };
  const fresh = Math.max(0, ((tokens - before.tokens) * 1000) / (atMs - before.atMs));
  return { phase, tokens, atMs, perS: before.perS === null ? fresh : (before.perS + fresh) / 2 };
}
