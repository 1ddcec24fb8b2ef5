/** GGUF models of server/engine/local. The code that knows the files creates the target; no other code reads its source. */
import type { ExpertFacts, LoadSpec } from '../../../contract/load.ts';
import { type ModelSettings, pickSettings } from '../../../contract/settings/shapes.ts';
import type { Medium, ModelTarget } from '../ports.ts';

export const LOCAL_ENGINE = 'local';

export interface LocalSource {
  readonly path: string;
  /** Lower-case hex SHA-256 of the weights if known; key of measurements. */
  readonly digest: string | null;
  readonly threads: number | null;
  readonly settings: ModelSettings;
  readonly experts: ExpertFacts | null;
  readonly attached: Pick<LoadSpec, 'adapters' | 'draft' | 'projector'>;
  /** Bytes of weights on disk including additional files; bytes of KV state per token of window and sequence. */
  readonly weightsBytes: number;
  readonly kvBytesPerToken: number;
  /** Checks the files again just before a load; rejects with SvcError if they changed. */
  verify(): Promise<void>;
}

export interface LocalTarget extends ModelTarget {
  readonly source: LocalSource;
}

type LocalModel = Pick<ModelTarget, 'modelId' | 'kind' | 'trainedCtx' | 'defaultCtx' | 'farthest'> & {
  readonly ranks?: boolean;
  readonly media?: readonly Medium[];
};

export function localTarget(
  { ranks = false, media = [], ...model }: LocalModel,
  source: LocalSource,
): LocalTarget {
  return {
    ...model,
    engine: LOCAL_ENGINE,
    capabilities: {
      canFreeze: !ranks,
      canExplain: model.kind === 'chat',
      canTokenize: true,
      canRank: ranks,
      canContinue: model.kind === 'chat',
      ...(media.length > 0 && { media }),
    },
    revision: [source.digest ?? '', source.path, settingsKey(source), extraKey(source)].join(' ').trimEnd(),
    source,
  };
}

export function fileTarget(
  model: Pick<ModelTarget, 'modelId' | 'kind'>,
  file: Pick<LocalSource, 'path' | 'digest' | 'threads'> & Partial<Pick<LocalSource, 'settings'>>,
): LocalTarget {
  const source = {
    settings: {},
    ...file,
    experts: null,
    attached: { adapters: [], draft: null },
    weightsBytes: 0,
    kvBytesPerToken: 0,
    verify: async () => {},
  };
  return localTarget({ ...model, trainedCtx: Infinity, defaultCtx: 0 }, source);
}

/** Canonical form of the settings that require another load of the same file; empty if none is set. */
export function settingsKey({ settings }: Pick<LocalSource, 'settings'>): string {
  // A changed thread count applies to the next load and does not cause one.
  const { threads: _, lora, ...set } = pickSettings(settings);
  const named = lora === undefined ? set : { ...set, lora: lora.map(({ name }) => name) };
  return Object.keys(named).length === 0 ? '' : JSON.stringify(named);
}

export function extraFiles({ adapters, draft, projector }: LocalSource['attached']): readonly string[] {
  const others = [draft, projector].filter((file) => file !== null && file !== undefined);
  return [...adapters, ...others].map(({ path }) => path);
}

const extraKey = ({ attached }: LocalSource): string => extraFiles(attached).join(' ');

export function isLocal(target: ModelTarget): target is LocalTarget {
  return target.engine === LOCAL_ENGINE;
}
