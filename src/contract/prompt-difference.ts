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
