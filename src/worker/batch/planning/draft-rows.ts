/**
 * Number of draft tokens of each stream in one step. A few more rows cost much less in a shared call than alone, so
 * drafts pay if enough of them are accepted. Pure.
 */
import type { DecodingSequence } from './step-planner.ts';
import { DRAFT_LIMITS } from './tuning.ts';

type DraftingStream = Pick<DecodingSequence, 'draftTokens' | 'draftHitRate' | 'draftMsPerToken'>;

interface DraftedRows {
  readonly drafts: readonly number[];
  readonly rows: readonly number[];
}

interface DraftRules {
  readonly most: number;
  readonly isEqual: boolean;
  readonly plainMs: number;
}

type CallMs = (rows: number) => number;

export function draftRows(
  streams: readonly DraftingStream[],
  callMs: CallMs,
  rules: DraftRules,
): DraftedRows | null {
  if (streams.every(({ draftTokens, draftHitRate }) => draftTokens * draftHitRate === 0)) return null;
  let rate = (DRAFT_LIMITS.leastGain * streams.length) / rules.plainMs;
  let best: DraftedCall | null = null;
  for (let round = 0; round < DRAFT_LIMITS.rounds; round += 1) {
    const found = longestCall(streams, callMs, { ...rules, rate });
    if (found === null || found.tokens <= rate * found.ms) break;
    best = found;
    rate = found.tokens / found.ms;
  }
  return best;
}

type RatedRules = DraftRules & {
  readonly rate: number;
};

/** The longest drafts that slow no stream too much: shorter ones protect the other streams. */
function longestCall(
  streams: readonly DraftingStream[],
  callMs: CallMs,
  rules: RatedRules,
): DraftedCall | null {
  for (let most = rules.most; most >= 1; most = Math.floor(most / 2)) {
    const call = draftedCall(streams, callMs, { ...rules, most });
    if ((call.least * rules.plainMs) / call.ms >= 1 - DRAFT_LIMITS.mostLoss) return call;
  }
  return null;
}

interface DraftedCall extends DraftedRows {
  readonly tokens: number;
  readonly least: number;
  readonly ms: number;
}

/** Adds the most likely draft rows first, while they gain more tokens than their time is worth at `rate`. */
function draftedCall(
  streams: readonly DraftingStream[],
  callMs: CallMs,
  { most, isEqual, rate }: Omit<RatedRules, 'plainMs'>,
): DraftedCall {
  const rows = streams.map(() => 0);
  const worth = ({ tokens, ms }: DraftedCall): number => tokens - rate * ms;
  const call = (): DraftedCall => {
    const expected = streams.map((stream, i) => expectedTokens(stream, rows[i] ?? 0));
    const drafts = streams.map(({ draftTokens }, i) => Math.min(draftTokens, rows[i] ?? 0));
    const draftMs = streams.map(({ draftMsPerToken = 0 }, i) => draftMsPerToken * (drafts[i] ?? 0));
    return {
      rows: [...rows],
      drafts,
      tokens: sum(expected),
      least: Math.min(...expected),
      ms: callMs(streams.length + sum(rows)) + sum(draftMs),
    };
  };
  let best = call();
  for (;;) {
    const chances = streams.map((stream, i) => draftChance(stream, (rows[i] ?? 0) + 1, most));
    const likeliest = chances.indexOf(Math.max(...chances));
    if ((chances[likeliest] ?? 0) === 0) return best;
    for (const i of isEqual ? rows.keys() : [likeliest]) rows[i] = (rows[i] ?? 0) + 1;
    if (streams.length + sum(rows) > DRAFT_LIMITS.mostRows) return best;
    const next = call();
    if (worth(next) > worth(best)) best = next;
  }
}

function expectedTokens({ draftTokens, draftHitRate }: DraftingStream, rows: number): number {
  const rate = Math.min(draftHitRate, DRAFT_LIMITS.mostHitRate);
  return (1 - rate ** (Math.min(draftTokens, rows) + 1)) / (1 - rate);
}

function draftChance({ draftTokens, draftHitRate }: DraftingStream, place: number, most: number): number {
  if (place > Math.min(draftTokens, most)) return 0;
  return Math.min(draftHitRate, DRAFT_LIMITS.mostHitRate) ** place;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
