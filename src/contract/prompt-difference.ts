/** What an earlier prompt shares with one, as it crosses: texts are bounded, and stay in one trust domain. */
import { type Static, Type } from '#typebox';
import { CHANGE_CAUSE_NAMES, type ChangeCause } from '../lib/prompt-cache/causes.ts';
import { PLACE_KINDS, type PromptPlace, TOLD_UNITS } from '../lib/prompt-cache/difference.ts';

const Told = Type.String({ maxLength: TOLD_UNITS });

const PromptDifference = Type.Object({
  cause: Type.Unsafe<ChangeCause>({ type: 'string', enum: CHANGE_CAUSE_NAMES }),
  token: Type.Integer({ minimum: 0 }),
  place: Type.Object({
    kind: Type.Unsafe<PromptPlace['kind']>({ type: 'string', enum: PLACE_KINDS }),
    index: Type.Integer({ minimum: -1 }),
    name: Type.String(),
  }),
  isHistory: Type.Boolean(),
  shared: Told,
  before: Told,
  now: Told,
});

/** The earlier prompt of the same trust domain that is most like this one. */
export const EarlierPrompt = Type.Object({
  /** How many tokens both begin with. */
  commonTokens: Type.Integer({ minimum: 0 }),
  /** Absent where this prompt continues it. */
  difference: Type.Optional(PromptDifference),
});
export type EarlierPrompt = Static<typeof EarlierPrompt>;

/** Tokens that are evaluated again at every join; fewer are no loss. */
const SLACK = 32;

/** Why prompt tokens were evaluated, in one word; null: nothing was lost, or nobody knows why. */
export function missOf<Reason extends string>({
  cachedTokens,
  cache,
  earlier,
}: {
  readonly cachedTokens: number;
  readonly cache?: { readonly miss?: { readonly reason: Reason } };
  readonly earlier?: EarlierPrompt;
}): ChangeCause | Exclude<Reason, 'differs'> | 'evicted' | null {
  const reason = cache?.miss?.reason;
  const missed = reason === 'differs' ? undefined : (reason as Exclude<Reason, 'differs'> | undefined);
  if (earlier === undefined) return missed ?? null;
  // Where all that both share was reused, the client changed the rest; else what was shared is lost as well.
  const isReused = earlier.commonTokens <= cachedTokens + SLACK;
  return isReused ? (earlier.difference?.cause ?? missed ?? null) : (missed ?? 'evicted');
}
