/** What the slots of a loaded model do, and what it keeps of prompts beside them, as its worker reports. Counts only, never text. */
import { type Static, Type } from 'typebox';
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

/** How often a worker reports on its slots at most, and only while somebody watches, milliseconds. */
export const SLOT_REPORT_MS = 250;

/** How long after a change it reports while nobody does, for the figures of the service, milliseconds. */
export const UNWATCHED_REPORT_MS = 1_000;

export const TierFacts = Type.Object({
  bytes: Count,
  limitBytes: Count,
  /** Tokens whose state it holds; a beginning that several whole states share counts in each. */
  tokens: Count,
  /** States that gave way to others since the load. */
  evictions: Count,
  /** Prompt tokens whose state came back from it since the load. */
  restoredTokens: Count,
});
export type TierFacts = Static<typeof TierFacts>;

export const CacheTiers = Type.Object({
  /** How often what a slot held gave way to another prompt since the load. */
  slotEvictions: Count,
  /** Null: nothing is kept there. */
  ram: Type.Union([TierFacts, Type.Null()]),
  disk: Type.Union([
    /** `othersBytes`: what other models have of the same limit, as it was when this one last looked. */
    Type.Object({ ...TierFacts.properties, othersBytes: Count }),
    Type.Null(),
  ]),
  /** States that were brought back into a slot since the load, and how long that took together. */
  restores: Count,
  restoreMs: Type.Number({ minimum: 0 }),
});
export type CacheTiers = Static<typeof CacheTiers>;

/** How often it reports on the tiers at most, milliseconds; it says nothing while nothing changes. */
export const TIER_REPORT_MS = 500;
