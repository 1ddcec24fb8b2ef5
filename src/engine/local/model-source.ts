/** The models of this kind of engine: GGUF files. The code that knows the files makes the target; no other reads its source. */
import type { ExpertFacts, LoadSpec } from '../../contract/load.ts';
import { type ModelSettings, pickSettings } from '../../contract/settings/shapes.ts';
import type { Medium, ModelTarget } from '../ports.ts';

export const LOCAL_ENGINE = 'local';

export interface LocalSource {
  /** Absolute path of the first or only GGUF file. */
  readonly path: string;
  /** Lower-case hex SHA-256 of the weights when known; names what loads measured. */
  readonly digest: string | null;
  /** Threads pinned for this model by the user, or null. */
  readonly threads: number | null;
  /** Settings of its loads by its user. */
  readonly settings: ModelSettings;
  /** Null: the model is no mixture, or this is unknown. */
  readonly experts: ExpertFacts | null;
  /** Files opened with it, as a load names them. */
  readonly beside: Pick<LoadSpec, 'adapters' | 'draft' | 'projector'>;
  /** Bytes of weights on disk, those of files beside it included, and bytes of KV state per token of window and sequence. */
  readonly weightsBytes: number;
  readonly kvBytesPerToken: number;
  /** Re-checks the files just before a load; rejects with SvcError when they changed. */
  verify(): Promise<void>;
}

export interface LocalTarget extends ModelTarget {
  readonly source: LocalSource;
}

type LocalModel = Pick<ModelTarget, 'modelId' | 'kind' | 'trainedCtx' | 'defaultCtx' | 'farthest'> & {
  /** Whether its pooling returns scores instead of vectors. */
  readonly ranks?: boolean;
  /** Media that it takes; absent: none. */
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

/** One file outside the scheduler's plans, loaded unchanged. */
export function fileTarget(
  model: Pick<ModelTarget, 'modelId' | 'kind'>,
  file: Pick<LocalSource, 'path' | 'digest' | 'threads'> & Partial<Pick<LocalSource, 'settings'>>,
): LocalTarget {
  const source = {
    settings: {},
    ...file,
    experts: null,
    beside: { adapters: [], draft: null },
    weightsBytes: 0,
    kvBytesPerToken: 0,
    verify: async () => {},
  };
  return localTarget({ ...model, trainedCtx: Infinity, defaultCtx: 0 }, source);
}

/** The settings that make another load of the same file, in one form; empty where none is set. */
export function settingsKey({ settings }: Pick<LocalSource, 'settings'>): string {
  // Another thread count takes effect with the next load, and does not cause one.
  const { threads: _, lora, ...set } = pickSettings(settings);
  // Nor does another scale, which each job brings.
  const named = lora === undefined ? set : { ...set, lora: lora.map(({ name }) => name) };
  return Object.keys(named).length === 0 ? '' : JSON.stringify(named);
}

/** The files that a load opens beside the model's own. */
export function extraFiles({ adapters, draft, projector }: LocalSource['beside']): readonly string[] {
  const others = [draft, projector].filter((file) => file !== null && file !== undefined);
  return [...adapters, ...others].map(({ path }) => path);
}

const extraKey = ({ beside }: LocalSource): string => extraFiles(beside).join(' ');

export function isLocal(target: ModelTarget): target is LocalTarget {
  return target.engine === LOCAL_ENGINE;
}
