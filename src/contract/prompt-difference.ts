/** Comparison of a prompt with an earlier one. Texts are bounded and stay in one trust domain. */
import { type Static, Type } from 'typebox';

/** Length of each text around a difference, UTF-16 units. */
export const DIFFERENCE_UNITS = 80;
const Words = Type.String({ maxLength: DIFFERENCE_UNITS });

const PromptDifference = Type.Object({
  token: Type.Integer({ minimum: 0 }),
  shared: Words,
  before: Words,
  now: Words,
});

export const EarlierPrompt = Type.Object({
  commonTokens: Type.Integer({ minimum: 0 }),
  difference: Type.Optional(PromptDifference),
});
export type EarlierPrompt = Static<typeof EarlierPrompt>;

/** Tokens that every restore evaluates again; a smaller loss is not reported. */
export const SLACK = 32;

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
  // If all that both share was reused, the client changed the rest; otherwise the shared part is lost as well.
  const isReused = earlier.commonTokens <= cachedTokens + SLACK;
  if (isReused && earlier.difference !== undefined) return 'differs';
  if (reason === undefined || reason === 'differs') return isReused ? null : 'evicted';
  return reason;
}
