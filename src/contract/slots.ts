/**
 * State of the slots of a loaded model and of its prompt cache, as its worker reports them. Counts only, never text.
 */
import { type Static, Type } from 'typebox';
import { MOST_SEQUENCES } from './limits.ts';

const Count = Type.Integer({ minimum: 0 });

/** The job that a slot works on. */
export const SlotWork = Type.Object({
  jobId: Type.String(),
  /** `suspended`: it waits for KV cells that others need. */
  phase: Type.Union([Type.Literal('prefill'), Type.Literal('decode'), Type.Literal('suspended')]),
  promptTokens: Count,
  /** Prompt tokens whose state was already there when it began. */
  cachedTokens: Count,
  /** Prompt tokens whose state is there now, including cached ones. */
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

export const SlotStates = Type.Array(SlotState, { maxItems: MOST_SEQUENCES });
export type SlotStates = Static<typeof SlotStates>;

/** Shortest interval between reports on the slots while a client watches, milliseconds. */
export const SLOT_REPORT_MS = 250;

/** The same without a watcher, for the figures of the service, milliseconds. */
export const UNWATCHED_REPORT_MS = 1_000;

export const TierFacts = Type.Object({
  bytes: Count,
  limitBytes: Count,
  /** Tokens whose state it holds; a beginning shared by several whole states counts in each. */
  tokens: Count,
  /** States evicted since the load. */
  evictions: Count,
  /** Prompt tokens restored from it since the load. */
  restoredTokens: Count,
});
export type TierFacts = Static<typeof TierFacts>;

export const CacheTiers = Type.Object({
  /** Times since the load that another prompt replaced the content of a slot. */
  slotEvictions: Count,
  /** Null: nothing is kept there. */
  ram: Type.Union([TierFacts, Type.Null()]),
  disk: Type.Union([
    /** `othersBytes`: use of the same limit by other models, at the last look. */
    Type.Object({ ...TierFacts.properties, othersBytes: Count }),
    Type.Null(),
  ]),
  /** States restored into a slot since the load, and the total time. */
  restores: Count,
  restoreMs: Type.Number({ minimum: 0 }),
});
export type CacheTiers = Static<typeof CacheTiers>;

/** Shortest interval between reports on the tiers, milliseconds; unchanged tiers are not reported. */
export const TIER_REPORT_MS = 500;
