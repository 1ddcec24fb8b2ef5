/** Everything that `hearth show` tells about an installed model, as one plain object. */
import { inText } from '../../contract/settings/shapes.ts';
import { isServed, type ModelManifest } from '../files/manifest.ts';
import { filePath } from '../files/paths.ts';
import type { InstalledModel, Registry } from './registry.ts';
import { digestOf } from './target.ts';

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
  readonly numCtx: number;
  readonly weightsBytes: number;
  readonly kvBytes: number;
  readonly totalBytes: number;
}

export async function describeModel(
  registry: Registry,
  model: InstalledModel,
  options: { readonly numCtx?: number | null } = {},
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
  options: { readonly numCtx?: number | null },
): Promise<MemoryFigures> {
  const { sizeBytes } = model.facts;
  if (!isServed(model)) return { numCtx: 0, weightsBytes: sizeBytes, kvBytes: 0, totalBytes: sizeBytes };
  const companions = await registry.companions(model);
  const { source, defaultCtx } = registry.toTarget(model, { ...options, companions });
  const kvBytes = source.kvBytesPerToken * defaultCtx;
  return {
    numCtx: defaultCtx,
    weightsBytes: source.weightsBytes,
    kvBytes,
    totalBytes: source.weightsBytes + kvBytes,
  };
}
