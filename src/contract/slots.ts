/** Slots and prompt cache of a loaded model as its worker reports them. Counts only, never text. */
import { type Static, Type } from 'typebox';
import { MOST_SEQUENCES } from './limits.ts';

const Count = Type.Integer({ minimum: 0 });

export const SlotWork = Type.Object({
  jobId: Type.String(),
  /** `suspended`: waits for KV cells that others need. */
  phase: Type.Union([Type.Literal('prefill'), Type.Literal('decode'), Type.Literal('suspended')]),
  promptTokens: Count,
  /** Prompt tokens whose state existed when the job began. */
  cachedTokens: Count,
  /** Prompt tokens with state now, cached ones included. */
  evaluatedTokens: Count,
  writtenTokens: Count,
  /** `accepted`: draft tokens that the sampler also chose. */
  draftedTokens: Count,
  acceptedTokens: Count,
});
export type SlotWork = Static<typeof SlotWork>;

export const SlotState = Type.Object({
  slot: Count,
  keptTokens: Count,
  work: Type.Optional(SlotWork),
});
export type SlotState = Static<typeof SlotState>;

export const SlotStates = Type.Array(SlotState, { maxItems: MOST_SEQUENCES });
export type SlotStates = Static<typeof SlotStates>;

/** Shortest interval between slot reports while a client watches, milliseconds. */
export const SLOT_REPORT_MS = 250;

/** The same without a watcher, for the service's metrics, milliseconds. */
export const UNWATCHED_REPORT_MS = 1_000;

export const TierFacts = Type.Object({
  bytes: Count,
  limitBytes: Count,
  /** Tokens with stored state; a prefix shared by several states counts in each. */
  tokens: Count,
  evictions: Count,
  restoredTokens: Count,
});
export type TierFacts = Static<typeof TierFacts>;

export const CacheTiers = Type.Object({
  slotEvictions: Count,
  ram: Type.Union([TierFacts, Type.Null()]),
  disk: Type.Union([
    /** `othersBytes`: share of the limit that other models used at the last check. */
    Type.Object({ ...TierFacts.properties, othersBytes: Count }),
    Type.Null(),
  ]),
  restores: Count,
  restoreMs: Type.Number({ minimum: 0 }),
});
export type CacheTiers = Static<typeof CacheTiers>;

/** Shortest interval between tier reports, milliseconds; unchanged tiers are not reported. */
export const TIER_REPORT_MS = 500;
