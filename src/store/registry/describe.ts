import { inText } from '../../contract/settings/shapes.ts';
import { knownDigest, isServed, type ModelManifest } from '../files/manifest.ts';
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
  /** Null: the model has no template, and ChatML is used. */
  readonly template: ModelManifest['facts']['template'] | null;
  readonly params: ModelManifest['params'];
  readonly settings: Readonly<Record<string, string>>;
  readonly memory: MemoryFigures;
  readonly adapter?: NonNullable<ModelManifest['facts']['adapter']>;
  readonly projector?: NonNullable<ModelManifest['facts']['projector']>;
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

/** From the header of the file; `hearth fit` measures the load on this machine. */
export interface MemoryFigures {
  readonly numCtx: number | null;
  readonly weightsBytes: number;
  /** For one sequence, in f16. */
  readonly kvBytesPerToken: number;
}

export async function describeModel(
  registry: Registry,
  model: InstalledModel,
  setCtx: number | null = null,
): Promise<ModelDescription> {
  const { facts } = model;
  const memory = await memoryFigures(registry, model, setCtx);
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
    ...(facts.projector === undefined ? {} : { projector: facts.projector }),
    ...(facts.mtpLayers === undefined ? {} : { mtpLayers: facts.mtpLayers }),
    source: model.source,
    ownedBy: model.ownedBy,
    addedAt: model.addedAt,
    files: model.files.map((file) => ({
      role: file.role,
      path: filePath(registry.store.paths, file),
      sizeBytes: file.sizeBytes,
      sha256: knownDigest(file),
      // A digest that a foreign store only stated has not been compared with the bytes yet.
      verified: 'digest' in file || file.digestOrigin === 'computed',
    })),
  };
}

async function memoryFigures(
  registry: Registry,
  model: InstalledModel,
  setCtx: number | null,
): Promise<MemoryFigures> {
  if (!isServed(model)) return { numCtx: null, weightsBytes: model.facts.sizeBytes, kvBytesPerToken: 0 };
  const companions = await registry.companions(model);
  const { source, defaultCtx } = registry.toTarget(model, { numCtx: setCtx, companions });
  return {
    numCtx: defaultCtx,
    weightsBytes: source.weightsBytes,
    kvBytesPerToken: source.kvBytesPerToken,
  };
}
