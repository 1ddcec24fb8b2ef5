import { type Capabilities, type IdleOption, type Medium, UNKNOWN_WINDOW } from '../ports.ts';
import { ABILITIES, idleOptions } from './chat/abilities.ts';
import {
  type Dialect,
  REMOTE_ENGINE,
  type RemoteSource,
  type RemoteTarget,
  type UpstreamModel,
} from './ports.ts';

const ANY_MEDIUM: readonly Medium[] = ['image', 'audio'];

export function remoteTarget(modelId: string, source: RemoteSource, revision: string): RemoteTarget {
  const { model, upstream } = source;
  const window = contextWindow(model);
  return {
    modelId,
    kind: model.kind,
    engine: REMOTE_ENGINE,
    place: upstream.name,
    capabilities: {
      ...remoteCapabilities(upstream.dialect, model, ['keepAlive']),
      // Its record counts only if the owner of its key is known.
      canFreeze: false,
    },
    trainedCtx: window,
    // Every job is planned for the whole window, so that none waits for another size.
    defaultCtx: window,
    revision,
    source,
  };
}

export const contextWindow = ({ contextLength }: Pick<UpstreamModel, 'contextLength'>): number =>
  contextLength ?? UNKNOWN_WINDOW;

export function remoteCapabilities(
  dialect: Dialect,
  model: UpstreamModel,
  idle: readonly IdleOption[] = [],
): Capabilities {
  return {
    canFreeze: false,
    canExplain: false,
    canTokenize: false,
    canRank: false,
    media: model.kind === 'chat' ? (model.media ?? ANY_MEDIUM) : [],
    canContinue: ABILITIES[dialect].begunAnswers !== null,
    idle: new Set([...idle, ...idleOptions(dialect)]),
    drawsSeed: true,
  };
}
