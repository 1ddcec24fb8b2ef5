/**
 * The manifest of a model: the small JSON file that makes a model installed. It names files by digest (bytes in our
 * own store) or by path (bytes that another program or the user owns).
 */
import { type Static, Type } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { BASE_MODEL_TOKENS, CHOSEN_TEMPLATE_TOKENS, LEAST_CTX } from '../../contract/limits.ts';
import { ExpertFacts, ModelKind } from '../../contract/load.ts';
import { modelSamplingShapes } from '../../contract/sampling-shapes.ts';
import { PRIVACIES } from '../../contract/settings/privacy.ts';
import { modelSettingShapes } from '../../contract/settings/shapes.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { type FileStamp, isSettled } from '../../lib/files/plain-file.ts';
import { isAlias, isModelId } from './model-id.ts';

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Text = Type.String({ maxLength: 4096 });
export const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** Other programs whose models can be served in place; `hf` is also the origin of a pulled model. */
export const FOREIGN_STORES = ['ollama', 'lmstudio', 'hf', 'llama.cpp', 'jan'] as const;
export type ForeignStoreName = (typeof FOREIGN_STORES)[number];

export const ModelSource = Type.Object(
  {
    type: Type.Enum(['file', 'builtin', ...FOREIGN_STORES]),
    /** As the user typed it: a path, a hub reference, or a name in the foreign store. */
    ref: Text,
    repo: Type.Optional(Text),
    commit: Type.Optional(Type.String({ pattern: '^[0-9a-f]{40}$' })),
    endpoint: Type.Optional(Text),
  },
  { additionalProperties: false },
);
export type ModelSource = Static<typeof ModelSource>;

/** Adapters are installed as `model`; a manifest that was ever valid stays valid. */
const FileRole = Type.Enum(['model', 'mmproj', 'adapter']);

/** Result of `stat` when the file was last verified. */
const Stamp = {
  sizeBytes: Count,
  mtimeMs: Type.Number(),
  inode: Type.Optional(Type.String({ pattern: '^[0-9]{1,20}$' })),
};

/** A file that we do not own. `digestOrigin`: whether Hearth computed its digest or its store only states it. */
export const ReferencedFile = Type.Object(
  {
    role: FileRole,
    path: Text,
    ...Stamp,
    /** Absent in older manifests, and for a file that had only just changed. */
    ctimeNs: Type.Optional(Type.String({ pattern: '^-?[0-9]{1,20}$' })),
    sha256: Type.Optional(Digest),
    digestOrigin: Type.Optional(Type.Union([Type.Literal('computed'), Type.Literal('stated')])),
  },
  { additionalProperties: false },
);
export type ReferencedFile = Static<typeof ReferencedFile>;

/** `name` is the file name that a shard needs next to its siblings. */
export const BlobFile = Type.Object(
  {
    role: FileRole,
    digest: Digest,
    ...Stamp,
    name: Type.Optional(Text),
    /** It was a hard link: a process that opened it under its other name may still write to it. */
    linked: Type.Optional(Type.Literal(true)),
  },
  { additionalProperties: false },
);
export type BlobFile = Static<typeof BlobFile>;

/** The stored part of a stamp. The ctime is left out, because our own links and renames change it. */
export const blobStamp = ({
  sizeBytes,
  mtimeMs,
  inode,
}: FileStamp): Pick<FileStamp, 'sizeBytes' | 'mtimeMs' | 'inode'> => ({
  sizeBytes,
  mtimeMs,
  inode,
});

export function referenceStamp({
  ctimeNs,
  ...stamp
}: FileStamp): Omit<FileStamp, 'ctimeNs'> & Partial<FileStamp> {
  return isSettled({ ctimeNs, ...stamp }) ? { ...stamp, ctimeNs } : stamp;
}

export const ModelFile = Type.Union([ReferencedFile, BlobFile]);
export type ModelFile = Static<typeof ModelFile>;

export const InstalledKind = Type.Union([ModelKind, Type.Literal('adapter')]);
export type InstalledKind = Static<typeof InstalledKind>;

/** Facts read from the GGUF header at installation; 0 or null for those that an adapter does not have. */
export const ModelFacts = Type.Object(
  {
    architecture: Text,
    name: Type.Optional(Text),
    quant: Type.Union([Text, Type.Null()]),
    parameterCount: Type.Union([Count, Type.Null()]),
    contextLength: Count,
    embeddingLength: Count,
    pooling: Type.Union([Text, Type.Null()]),
    blockCount: Count,
    /** Bytes per token of the window, f16, summed over all layers. */
    kvBytesPerToken: Count,
    vocabSize: Count,
    sizeBytes: Count,
    license: Type.Union([Text, Type.Null()]),
    experts: Type.Optional(ExpertFacts),
    mtpLayers: Type.Optional(Count),
    adapter: Type.Optional(
      Type.Object({ alpha: Type.Number(), targets: Count }, { additionalProperties: false }),
    ),
    projector: Type.Optional(
      Type.Object(
        { type: Type.Union([Text, Type.Null()]), image: Type.Boolean(), audio: Type.Boolean() },
        { additionalProperties: false },
      ),
    ),
    hasChatTemplate: Type.Boolean(),
    template: Type.Object({
      tools: Type.Boolean(),
      reasoning: Type.Boolean(),
      system: Type.Boolean(),
      /** Only in older manifests, and not used: it is now read by rendering. */
      toolFormat: Type.Optional(Type.String()),
    }),
  },
  { additionalProperties: false },
);
export type ModelFacts = Static<typeof ModelFacts>;

/** Chosen: a system prompt fills the window of its model long before this. */
export const MOST_SYSTEM_CHARS = 65_536;
export const COMPACT = /^(?:[1-9][0-9]?%|[1-9][0-9]{2,8})$/;
export const NATIVE_WIDTH = 'native';
const MOST_WIDTH = 65_536;
export const TOKEN_IDS = ['auto', 'own'] as const;

export const ModelParams = Type.Object(
  {
    numCtx: Type.Optional(Type.Integer({ minimum: LEAST_CTX, maximum: 2 ** 31 - 1 })),
    ...modelSamplingShapes,
    maxTokens: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
    stop: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 64 })),
    keepAlive: Type.Optional(Type.String({ maxLength: 32 })),
    system: Type.Optional(Type.String({ minLength: 1, maxLength: MOST_SYSTEM_CHARS })),
    compact: Type.Optional(Type.String({ pattern: COMPACT.source })),
    dimensions: Type.Optional(
      Type.Union([Type.Literal(NATIVE_WIDTH), Type.Integer({ minimum: 1, maximum: MOST_WIDTH })]),
    ),
    /** `auto`: token ids in place of texts need proof that they are of the model's vocabulary; `own`: they are trusted. */
    tokenIds: Type.Optional(Type.Enum([...TOKEN_IDS])),
    privacy: Type.Optional(Type.Enum([...PRIVACIES])),
    ...modelSettingShapes,
  },
  { additionalProperties: false },
);
export type ModelParams = Static<typeof ModelParams>;

export const ModelManifest = Type.Object(
  {
    schema: Type.Literal(1),
    id: Type.String(),
    aliases: Type.Array(Type.String(), { maxItems: 256 }),
    kind: InstalledKind,
    ownedBy: Type.String({ minLength: 1, maxLength: 200 }),
    source: ModelSource,
    files: Type.Array(ModelFile, { minItems: 1, maxItems: 1024 }),
    facts: ModelFacts,
    params: ModelParams,
    addedAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' }),
  },
  { additionalProperties: false },
);
export type ModelManifest = Static<typeof ModelManifest>;

/** Manifests are a few kilobytes; a larger file is not one, and is not read. */
export const MAX_MANIFEST_BYTES = 1024 * 1024;

export function isBlobFile(file: ModelFile): file is BlobFile {
  return 'digest' in file;
}

export function knownDigest(file: ModelFile): string | null {
  return isBlobFile(file) ? file.digest : (file.sha256 ?? null);
}

export function modelFiles(manifest: ModelManifest): readonly ModelFile[] {
  return manifest.files.filter((file) => file.role === 'model');
}

export function projectorFile(manifest: ModelManifest): ModelFile | null {
  if (manifest.facts.projector === undefined) return null;
  return manifest.files.find((file) => file.role === 'mmproj') ?? null;
}

export function acceptedMedia({
  facts: { projector },
}: Pick<ModelManifest, 'facts'>): readonly ('image' | 'audio')[] {
  const { image = false, audio = false } = projector ?? {};
  return [...(image ? (['image'] as const) : []), ...(audio ? (['audio'] as const) : [])];
}

/** All files that a load opens; files of other roles are only kept. */
export function loadedFiles(manifest: ModelManifest): readonly ModelFile[] {
  const projector = projectorFile(manifest);
  return projector === null ? modelFiles(manifest) : [...modelFiles(manifest), projector];
}

export function blobDigests(manifest: ModelManifest): string[] {
  return manifest.files.filter(isBlobFile).map((file) => file.digest);
}

export function parseManifest(text: string, expectedId: string): ModelManifest {
  const reason = (why: string, cause?: unknown) =>
    fail('manifest_damaged', { param: expectedId, model: expectedId, reason: why }, cause);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw reason('it is not JSON', error);
  }
  if (!Check(ModelManifest, value)) {
    const [first] = Errors(ModelManifest, value);
    throw reason(first ? `${first.instancePath || 'it'} ${first.message}` : 'it has an unexpected structure');
  }
  if (!isModelId(value.id) || value.id !== expectedId) throw reason('its id does not match its file name');
  if (!value.aliases.every(isAlias)) throw reason('it lists an invalid alias');
  if (modelFiles(value).length === 0) throw reason('it names no model file');
  return value;
}

export function formatManifest(manifest: ModelManifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

export function isWithoutTemplate({ kind, facts }: ModelManifest): boolean {
  return kind === 'chat' && !facts.hasChatTemplate;
}

export function isBaseModel(model: ModelManifest): boolean {
  return isWithoutTemplate(model) && model.params.template === undefined;
}

/** In tokens; null: the worker decides by the vocabulary. */
export function unnamedLimit(model: ModelManifest): number | null {
  if (isBaseModel(model)) return BASE_MODEL_TOKENS;
  return isWithoutTemplate(model) ? CHOSEN_TEMPLATE_TOKENS : null;
}

/** Excludes adapters, which requests cannot name. */
export type ServedManifest = ModelManifest & { readonly kind: ModelKind };

export function isServed(manifest: ModelManifest): manifest is ServedManifest {
  return manifest.kind !== 'adapter';
}
