/** What the slots of a loaded model do, as its worker reports while somebody watches. Counts only, never text. */
import { type Static, Type } from '#typebox';
import { MOST_SEQUENCES } from './limits.ts';

const Count = Type.Integer({ minimum: 0 });

/** The job that a slot works on. */
export const SlotWork = Type.Object({
  jobId: Type.String(),
  /** `suspended`: it waits for KV cells that others need. */
  phase: Type.Union([Type.Literal('prefill'), Type.Literal('decode'), Type.Literal('suspended')]),
  promptTokens: Count,
  /** Prompt tokens whose state was there already when it began. */
  cachedTokens: Count,
  /** Prompt tokens whose state is there now, cached ones included. */
  evaluatedTokens: Count,
  writtenTokens: Count,
  /** Draft tokens evaluated ahead, and those that the sampler chose as well. */
  draftedTokens: Count,
  acceptedTokens: Count,
});
export type SlotWork = Static<typeof SlotWork>;

export const SlotState = Type.Object({
  /** The number of its sequence. */
  slot: Count,
  /** Tokens whose KV state it holds. */
  keptTokens: Count,
  /** Absent: it is idle. */
  work: Type.Optional(SlotWork),
});
export type SlotState = Static<typeof SlotState>;

/** Every slot of the model, in order. */
export const SlotStates = Type.Array(SlotState, { maxItems: MOST_SEQUENCES });
export type SlotStates = Static<typeof SlotStates>;

/** How often a worker reports at most while somebody watches, milliseconds. */
export const SLOT_REPORT_MS = 250;
