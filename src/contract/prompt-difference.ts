/** Common and different parts of an earlier prompt and a new one: texts are bounded, and stay in one trust domain. */
import { type Static, Type } from 'typebox';

/** UTF-16 units of each text around a difference. */
export const DIFFERENCE_UNITS = 80;
const Words = Type.String({ maxLength: DIFFERENCE_UNITS });

const PromptDifference = Type.Object({
  /** Length of the common prefix. */
  token: Type.Integer({ minimum: 0 }),
  /** The text right before the first token that differs, the same in both. */
  shared: Words,
  /** Continuation of the earlier prompt. */
  before: Words,
  now: Words,
});

/** The earlier prompt of the same trust domain that is most like this one. */
export const EarlierPrompt = Type.Object({
  /** Length of the common prefix. */
  commonTokens: Type.Integer({ minimum: 0 }),
  /** Absent where one prompt continues the other. */
  difference: Type.Optional(PromptDifference),
});
export type EarlierPrompt = Static<typeof EarlierPrompt>;

/** Tokens that are evaluated again at every join; fewer are no loss. */
const SLACK = 32;

/** Reason why prompt tokens were evaluated, in one word; null: nothing was lost, or the engine does not say. */
export function missReason<Reason extends string>({
  cachedTokens,
  cache,
  earlier,
}: {
  readonly cachedTokens: number;
  readonly cache?: { readonly miss?: { readonly reason: Reason } };
  readonly earlier?: EarlierPrompt;
}): Reason | 'differs' | 'evicted' | null {
  const reason = cache?.miss?.reason;
  if (earlier === undefined) return reason === 'differs' ? null : (reason ?? null);
  // If all that both share was reused, the client changed the rest; else the shared part is lost as well.
  const isReused = earlier.commonTokens <= cachedTokens + SLACK;
  if (isReused && earlier.difference !== undefined) return 'differs';
  if (reason === undefined || reason === 'differs') return isReused ? null : 'evicted';
  return reason;
}
