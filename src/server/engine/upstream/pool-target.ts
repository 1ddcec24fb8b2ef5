import type { Capabilities, IdleOption, ModelTarget } from '../ports.ts';
import { nearer } from '../../../contract/settings/privacy.ts';
import { POOL_ENGINE, type PoolSource, type PoolTarget } from './ports.ts';

type Members = readonly [ModelTarget, ...ModelTarget[]];

export function poolTarget(
  modelId: string,
  members: Members,
  { equalWeights, farthest = 'remote' }: Pick<PoolSource, 'equalWeights'> & Pick<ModelTarget, 'farthest'>,
): PoolTarget {
  const window = Math.min(...members.map(({ trainedCtx }) => trainedCtx));
  return {
    modelId,
    kind: members[0].kind,
    engine: POOL_ENGINE,
    // A prompt that must stay local under one name must not leave under another.
    farthest: nearer(farthest, ...members.flatMap((member) => member.farthest ?? [])),
    capabilities: sharedCapabilities(members.map(({ capabilities }) => capabilities)),
    trainedCtx: window,
    defaultCtx: window,
    revision: members.map((member) => `${member.modelId} ${member.revision}`).join('\n'),
    source: { members, equalWeights },
  };
}

function sharedCapabilities(all: readonly Capabilities[]): Capabilities {
  const every = (holds: (capabilities: Capabilities) => boolean): boolean => all.every(holds);
  const [first] = all;
  return {
    // A record covers the bytes of one model.
    canFreeze: false,
    canExplain: every(({ canExplain }) => canExplain),
    canTokenize: every(({ canTokenize }) => canTokenize),
    canRank: every(({ canRank }) => canRank),
    canContinue: every(({ canContinue }) => canContinue === true),
    media: (first?.media ?? []).filter((medium) => every(({ media = [] }) => media.includes(medium))),
    idle: new Set<IdleOption>(all.flatMap(({ idle = new Set() }) => [...idle])),
    drawsSeed: every(({ drawsSeed }) => drawsSeed === true),
  };
}
