import { keptState } from '../cache/kept-state.ts';
import type { ChatModel } from '../model.ts';
import type { Outbox } from '../outbox.ts';
import { mostReused, tileRules } from './planning/tiles.ts';
import { choosesAttention } from './attention.ts';
import type { CostModel } from './planning/cost-model.ts';
import { Tiers } from './tiers/tiers.ts';
import { kindName } from '../../lib/prompt-cache/kind.ts';

/** The library restores a sliding window into other cells (`windowState` of contract/settings/exact-rules.ts). */
export const keepsInSlots = (chat: ChatModel): boolean =>
  chat.exact !== undefined && chat.model.facts.past.holds === 'window';

export function openTiers(chat: ChatModel, costs: CostModel, outbox: Outbox): Tiers | null {
  const { promptCache } = chat.spec;
  if (promptCache === undefined || (promptCache.ramBytes === 0 && promptCache.disk === null)) return null;
  if (keepsInSlots(chat)) return null;
  const cuttable = chat.prefixReuse === 'full';
  const streams = chat.sharedCells === null ? chat.facts.sequences : 1;
  const { ropeCtx } = chat.model.facts;
  const { disk } = promptCache;
  const kind = (known: string): string =>
    stateKind(known, {
      numCtx: chat.context.numCtx,
      ropeCtx,
      streams,
      cuttable,
      exact: chat.exact !== undefined,
    });
  return new Tiers({
    context: chat.context,
    spec: { ...promptCache, disk: disk && { ...disk, kind: kind(disk.kind) } },
    cuttable,
    kept: keptState(chat.context, choosesAttention(chat)),
    streams,
    without: chat.spec.planner?.without ?? [],
    mostReused: (promptTokens) => mostReused(promptTokens, tileRules(chat)),
    msPerToken: () => costs.promptMsPerToken,
    tell: (tiers) => outbox.post({ type: 'cache', tiers }),
  });
}

/**
 * Conditions of a state, in addition to those that the server knows before a load. State does not depend on the size
 * of the window or the number of slots, with two exceptions: models whose rotation of positions changes beyond a
 * window, and whole states, in which llama.cpp writes the number of streams. Pure.
 */
export interface StateForm {
  readonly numCtx: number;
  /** The window above which the model rotates positions in another way; null: never. */
  readonly ropeCtx: number | null;
  readonly streams: number;
  readonly cuttable: boolean;
  /** An exact load takes no state that was computed otherwise. */
  readonly exact?: boolean;
}

export function stateKind(kind: string, { numCtx, ropeCtx, streams, cuttable, exact }: StateForm): string {
  const parts = [
    ...(ropeCtx !== null && numCtx > ropeCtx ? ['long'] : []),
    ...(exact === true ? ['exact 1'] : []),
    ...(cuttable || streams === 1 ? [] : [`streams ${streams}`]),
  ];
  if (parts.length === 0) return kind;
  return kindName(kind, [kind, ...parts]);
}
