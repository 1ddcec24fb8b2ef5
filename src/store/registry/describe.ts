/** Everything that `hearth show` tells about an installed model, as one plain object. */
import { inText } from '../../contract/settings/shapes.ts';
import type { LocalTarget } from '../../engine/local/model-source.ts';
import { digestOf, isServed, type ModelManifest } from '../files/manifest.ts';
import { filePath } from '../files/paths.ts';
import type { InstalledModel, Registry } from './registry.ts';

export interface ModelDescription {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly kind: string;
  readonly isDefault: boolean;
  readonly architecture: string;
  readonly parameterCount: number | null;
  readonly quant: string | null;
  readonly contextLength: number;
  readonly embeddingLength: number;
  readonly vocabSize: number;
  readonly pooling: string | null;
  readonly license: string | null;
  /** Null: the model has no template and ChatML stands in. */
  readonly template: ModelManifest['facts']['template'] | null;
  readonly params: ModelManifest['params'];
  /** Those of them that its loads take, by name and as `hearth set` takes them. */
  readonly settings: Readonly<Record<string, string>>;
  readonly memory: MemoryFigures;
  /** Of an adapter. */
  readonly adapter?: NonNullable<ModelManifest['facts']['adapter']>;
  /** Layers that predict further tokens, where there are some. */
  readonly mtpLayers?: number;
  readonly source: ModelManifest['source'];
  readonly ownedBy: string;
  readonly addedAt: string;
  readonly files: readonly {
    role: string;
    path: string;
    sizeBytes: number;
    sha256: string | null;
    verified: boolean;
  }[];
}

/** What one sequence takes; the service adds one share of `kvBytes` per parallel sequence. */
export interface MemoryFigures {
  /** The window that these figures are for. */
  readonly numCtx: number;
  /** Whether that is set, by the user or by the kind of model; else it is what a load would choose now. */
  readonly isSet: boolean;
  readonly weightsBytes: number;
  readonly kvBytes: number;
  readonly totalBytes: number;
}

export interface DescribeOptions {
  readonly numCtx?: number | null;
  /** The window that a load would choose where none is set; absent: as much as the model was trained for. */
  readonly chosenCtx?: (target: LocalTarget) => number;
}

export async function describeModel(
  registry: Registry,
  model: InstalledModel,
  options: DescribeOptions = {},
): Promise<ModelDescription> {
  const { facts } = model;
  const memory = await memoryOf(registry, model, options);
  return {
    id: model.id,
    aliases: model.aliases,
    kind: model.kind,
    isDefault: isServed(model) && (await registry.defaultId(model.kind)) === model.id,
    architecture: facts.architecture,
    parameterCount: facts.parameterCount,
    quant: facts.quant,
    contextLength: facts.contextLength,
    embeddingLength: facts.embeddingLength,
    vocabSize: facts.vocabSize,
    pooling: facts.pooling,
    license: facts.license,
    template: facts.hasChatTemplate ? facts.template : null,
    params: model.params,
    settings: Object.fromEntries(inText(model.params)),
    memory,
    ...(facts.adapter === undefined ? {} : { adapter: facts.adapter }),
    ...(facts.mtpLayers === undefined ? {} : { mtpLayers: facts.mtpLayers }),
    source: model.source,
    ownedBy: model.ownedBy,
    addedAt: model.addedAt,
    files: model.files.map((file) => ({
      role: file.role,
      path: filePath(registry.store.paths, file),
      sizeBytes: file.sizeBytes,
      sha256: digestOf(file),
      // A digest that a foreign store only stated has not been compared with the bytes yet.
      verified: 'digest' in file || file.digestOrigin === 'computed',
    })),
  };
}

async function memoryOf(
  registry: Registry,
  model: InstalledModel,
  { numCtx: setCtx = null, chosenCtx = ({ trainedCtx }) => trainedCtx }: DescribeOptions,
): Promise<MemoryFigures> {
  const { sizeBytes } = model.facts;
  if (!isServed(model))
    return { numCtx: 0, isSet: true, weightsBytes: sizeBytes, kvBytes: 0, totalBytes: sizeBytes };
  const companions = await registry.companions(model);
  const target = registry.toTarget(model, { numCtx: setCtx, companions });
  const { source, defaultCtx } = target;
  const numCtx = defaultCtx ?? chosenCtx(target);
  const kvBytes = source.kvBytesPerToken * numCtx;
  return {
    numCtx,
    isSet: defaultCtx !== null,
    weightsBytes: source.weightsBytes,
    kvBytes,
    totalBytes: source.weightsBytes + kvBytes,
  };
}
