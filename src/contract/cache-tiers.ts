/** What a loaded chat model keeps of prompts beside its slots, as its worker reports. Counts only, never text. */
import { type Static, Type } from '#typebox';

const Count = Type.Integer({ minimum: 0 });

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

/** How often a worker reports at most, milliseconds; it says nothing while nothing changes. */
export const TIER_REPORT_MS = 500;
