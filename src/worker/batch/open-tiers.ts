/** Opens the prompt cache of a loaded model, if it may keep anything. */
import { keptState } from '../cache/kept-state.ts';
import type { ChatModel } from '../model.ts';
import type { Outbox } from '../outbox.ts';
import { mostReused, tileRules } from './planning/tiles.ts';
import { choosesAttention } from './attention/attention.ts';
import type { CostModel } from './planning/cost-model.ts';
import { stateKind } from './tiers/state-kind.ts';
import { Tiers } from './tiers/tiers.ts';

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
