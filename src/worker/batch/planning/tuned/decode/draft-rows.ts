/**
 * How many draft tokens each decoding sequence gets in one step, with all sequences in one call or each in its own. A
 * few more rows in a call cost much less than a call by themselves, so drafts pay where enough of them are accepted. Pure.
 */
import type { DecodingSequence } from '../../step-planner.ts';
import { DRAFT_LIMITS } from '../../tuning.ts';

export type DraftingStream = Pick<
  DecodingSequence,
  'draftTokens' | 'draftHitRate' | 'draftMsPerToken' | 'position'
>;

export interface DraftPrices {
  /** What the step costs without drafts. */
  readonly plainMs: number;
  /** What a call of so many rows costs at depth 0. */
  readonly callMs: (rows: number) => number;
  readonly rowDepthMs: number;
}

export interface DraftedCall {
  /** Draft tokens of each of its streams, from the first one on that no call before has. */
  readonly drafts: readonly number[];
  /** Rows behind the sampled token of each; more than its drafts where the others have more. */
  readonly rows: readonly number[];
}

export interface DraftRules {
  /** Draft tokens of a stream. */
  readonly most: number;
  /** One call of all streams, whose lengths may differ or not; or none. */
  readonly together: 'any lengths' | 'equal lengths' | 'never';
  /** One call for each stream. */
  readonly apart: boolean;
}

interface Drafted {
  readonly calls: readonly DraftedCall[];
  readonly tokens: number;
  readonly ms: number;
}

/** The calls with the most expected tokens per millisecond; null where no draft pays. */
export function draftCalls(
  streams: readonly DraftingStream[],
  prices: DraftPrices,
  rules: DraftRules,
): readonly DraftedCall[] | null {
  if (streams.every(({ draftTokens, draftHitRate }) => draftTokens * draftHitRate === 0)) return null;
  let rate = (DRAFT_LIMITS.leastGain * streams.length) / prices.plainMs;
  let best: Drafted | null = null;
  for (let round = 0; round < DRAFT_LIMITS.rounds; round += 1) {
    const [found] = candidates(streams, { ...prices, rate }, rules).sort(
      (a, b) => b.tokens - rate * b.ms - (a.tokens - rate * a.ms),
    );
    if (found === undefined || found.tokens <= rate * found.ms) break;
    best = found;
    rate = found.tokens / found.ms;
  }
  return best?.calls ?? null;
}

/** In one call and in one each, with drafts of different length, as far as they slow no stream too much. */
function candidates(
  streams: readonly DraftingStream[],
  prices: DraftPrices & { readonly rate: number },
  { most, together, apart }: DraftRules,
): Drafted[] {
  const lengths: number[] = [];
  for (let length = most; length >= 1; length = Math.floor(length / 2)) lengths.push(length);
  const isEqual = together === 'equal lengths';
  const ways = [
    ...(together === 'never' && streams.length > 1 ? [] : [[streams]]),
    ...(apart && streams.length > 1 ? [streams.map((stream) => [stream])] : []),
  ];
  // The longest drafts that slow nobody: shorter ones are for streams beside which longer ones would.
  return ways.flatMap((groups) => {
    for (const length of lengths) {
      const calls = groups.map((group) => draftedCall(group, prices, { most: length, isEqual }));
      const tokens = calls.reduce((sum, call) => sum + call.tokens, 0);
      const ms = calls.reduce((sum, call) => sum + call.ms, 0);
      const least = Math.min(...calls.map((call) => call.least));
      if ((least * prices.plainMs) / ms >= 1 - DRAFT_LIMITS.mostLoss) return [{ calls, tokens, ms }];
    }
    return [];
  });
}

interface CallOfDrafts extends DraftedCall {
  readonly tokens: number;
  /** Of the stream with the fewest. */
  readonly least: number;
  readonly ms: number;
}

/** The likeliest draft rows first, as many as bring more tokens than their time would bring otherwise. */
function draftedCall(
  streams: readonly DraftingStream[],
  { callMs, rowDepthMs, rate }: DraftPrices & { readonly rate: number },
  { most, isEqual }: { readonly most: number; readonly isEqual: boolean },
): CallOfDrafts {
  const rows = streams.map(() => 0);
  const worth = ({ tokens, ms }: CallOfDrafts): number => tokens - rate * ms;
  const call = (): CallOfDrafts => {
    const expected = streams.map((stream, i) => expectedTokens(stream, rows[i] ?? 0));
    const depthMs =
      streams.reduce((sum, { position }, i) => sum + position * (1 + (rows[i] ?? 0)), 0) * rowDepthMs;
    const drafts = streams.map(({ draftTokens }, i) => Math.min(draftTokens, rows[i] ?? 0));
    // What a drafting model takes; text that is looked up takes nothing.
    const draftMs = streams.reduce(
      (sum, { draftMsPerToken = 0 }, i) => sum + draftMsPerToken * (drafts[i] ?? 0),
      0,
    );
    return {
      rows: [...rows],
      drafts,
      tokens: expected.reduce((sum, each) => sum + each, 0),
      least: Math.min(...expected),
      ms: callMs(streams.length + rows.reduce((sum, each) => sum + each, 0)) + depthMs + draftMs,
    };
  };
  let best = call();
  for (;;) {
    const chances = streams.map((stream, i) => chanceOf(stream, (rows[i] ?? 0) + 1, most));
    const likeliest = chances.indexOf(Math.max(...chances));
    if ((chances[likeliest] ?? 0) === 0) return best;
    for (const i of isEqual ? rows.keys() : [likeliest]) rows[i] = (rows[i] ?? 0) + 1;
    if (streams.length + rows.reduce((sum, each) => sum + each, 0) > DRAFT_LIMITS.mostRows) return best;
    const next = call();
    if (worth(next) > worth(best)) best = next;
  }
}

/** The sampled token, and each draft token that is accepted after accepted ones. */
function expectedTokens({ draftTokens, draftHitRate }: DraftingStream, rows: number): number {
  const rate = Math.min(draftHitRate, DRAFT_LIMITS.mostHitRate);
  return (1 - rate ** (Math.min(draftTokens, rows) + 1)) / (1 - rate);
}

/** That the draft token at this place is accepted, and all before it. */
function chanceOf({ draftTokens, draftHitRate }: DraftingStream, place: number, most: number): number {
  if (place > Math.min(draftTokens, most)) return 0;
  return Math.min(draftHitRate, DRAFT_LIMITS.mostHitRate) ** place;
}
