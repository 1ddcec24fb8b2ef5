/**
 * The manifest of a model: the one small JSON file that makes a model installed.
 * Files are named either by digest (bytes in our own store) or by path (bytes that belong to somebody else).
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

/** Other programs whose models can be served where they lie; `hf` is also where a pulled model comes from. */
export const FOREIGN_STORES = ['ollama', 'lmstudio', 'hf', 'llama.cpp', 'jan'] as const;
export type ForeignStoreName = (typeof FOREIGN_STORES)[number];

export const ModelSource = Type.Object(
  {
    type: Type.Enum(['file', 'builtin', ...FOREIGN_STORES]),
    /** The user's word: a path, a hub reference, a name in the foreign store. */
    ref: Text,
    /** Hub pulls: the repository and the commit that was pinned. */
    repo: Type.Optional(Text),
    commit: Type.Optional(Type.String({ pattern: '^[0-9a-f]{40}$' })),
    endpoint: Type.Optional(Text),
  },
  { additionalProperties: false },
);
export type ModelSource = Static<typeof ModelSource>;

/** Adapters are installed as `model`; a manifest that was ever valid stays so. */
const FileRole = Type.Enum(['model', 'mmproj', 'adapter']);

/** Result of `stat` when the file was last verified. */
const Stamp = {
  sizeBytes: Count,
  mtimeMs: Type.Number(),
  inode: Type.Optional(Type.String({ pattern: '^[0-9]{1,20}$' })),
};

/** A file that we do not own; `digestOrigin` says whether its digest was computed here or only stated by its store. */
export const ReferencedFile = Type.Object(
  {
    role: FileRole,
    path: Text,
    ...Stamp,
    /** Absent in manifests from before it was kept, and for a file that had only just changed. */
    ctimeNs: Type.Optional(Type.String({ pattern: '^-?[0-9]{1,20}$' })),
    sha256: Type.Optional(Digest),
    digestOrigin: Type.Optional(Type.Union([Type.Literal('computed'), Type.Literal('stated')])),
  },
  { additionalProperties: false },
);
export type ReferencedFile = Static<typeof ReferencedFile>;

/** A file in store/blobs; `name` is the name that a shard needs next to its siblings. */
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

/** The stored part of a stamp: our own links and renames change the ctime of a blob. */
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

/** An adapter is installed like a model, but serves no request alone. */
export const InstalledKind = Type.Union([ModelKind, Type.Literal('adapter')]);
export type InstalledKind = Static<typeof InstalledKind>;

/** Facts read from the GGUF header when the model was installed; what an adapter does not have is 0 or null. */
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
    /** Bytes of KV state per token of window, f16, summed over all layers. */
    kvBytesPerToken: Count,
    vocabSize: Count,
    sizeBytes: Count,
    license: Type.Union([Text, Type.Null()]),
    /** Absent for other models, and in manifests from before it was kept. */
    experts: Type.Optional(ExpertFacts),
    /** Layers that predict further tokens (MTP). */
    mtpLayers: Type.Optional(Count),
    /** For adapters: their trained strength, and the number of matrices they change. */
    adapter: Type.Optional(
      Type.Object({ alpha: Type.Number(), targets: Count }, { additionalProperties: false }),
    ),
    /** Facts of the installed projector. */
    projector: Type.Optional(
      Type.Object(
        { type: Type.Union([Text, Type.Null()]), image: Type.Boolean(), audio: Type.Boolean() },
        { additionalProperties: false },
      ),
    ),
    hasChatTemplate: Type.Boolean(),
    /** Features of the chat template, read from its text. */
    template: Type.Object({
      tools: Type.Boolean(),
      reasoning: Type.Boolean(),
      system: Type.Boolean(),
      /** Only in manifests from before it was read by rendering; not used. */
      toolFormat: Type.Optional(Type.String()),
    }),
  },
  { additionalProperties: false },
);
export type ModelFacts = Static<typeof ModelFacts>;

/** Defaults of one model, below what a request says and above the settings of the service. */
/** A system prompt fills the window of its model long before. */
export const MOST_SYSTEM_CHARS = 65_536;
/** A share of the window in percent, or tokens. */
export const COMPACT = /^(?:[1-9][0-9]?%|[1-9][0-9]{2,8})$/;
/** The width of the model itself. */
export const NATIVE_WIDTH = 'native';
const MOST_WIDTH = 65_536;
export const TOKEN_IDS = ['auto', 'own'] as const;

export const ModelParams = Type.Object(
  {
    numCtx: Type.Optional(Type.Integer({ minimum: LEAST_CTX, maximum: 2 ** 31 - 1 })),
    ...modelSamplingShapes,
    maxTokens: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
    stop: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 64 })),
    /** A duration as `SVC_KEEP_ALIVE` takes it, for example `10m`, `0` or `-1`. */
    keepAlive: Type.Optional(Type.String({ maxLength: 32 })),
    /** Default system message. */
    system: Type.Optional(Type.String({ minLength: 1, maxLength: MOST_SYSTEM_CHARS })),
    /** Threshold that shortens long conversations: a share of the window, or tokens. */
    compact: Type.Optional(Type.String({ pattern: COMPACT.source })),
    /** Default width of vectors. */
    dimensions: Type.Optional(
      Type.Union([Type.Literal(NATIVE_WIDTH), Type.Integer({ minimum: 1, maximum: MOST_WIDTH })]),
    ),
    /** Whether token ids in place of texts must be proved to be of the model's vocabulary. */
    tokenIds: Type.Optional(Type.Enum([...TOKEN_IDS])),
    /** The farthest that a request for a pool with this model may go. */
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
    /** RFC 3339, UTC. */
    addedAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' }),
  },
  { additionalProperties: false },
);
export type ModelManifest = Static<typeof ModelManifest>;

/** A manifest is a few kilobytes; more than this is not one of ours and is not read. */
export const MAX_MANIFEST_BYTES = 1024 * 1024;

export function isBlobFile(file: ModelFile): file is BlobFile {
  return 'digest' in file;
}

/** The digest of a file when it is known, lower-case hex. */
export function knownDigest(file: ModelFile): string | null {
  return isBlobFile(file) ? file.digest : (file.sha256 ?? null);
}

export function modelFiles(manifest: ModelManifest): readonly ModelFile[] {
  return manifest.files.filter((file) => file.role === 'model');
}

/** The file that turns images or audio into rows of this model; null if there is none that was checked. */
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

/** All that a load opens; files of another role are only kept. */
export function loadedFiles(manifest: ModelManifest): readonly ModelFile[] {
  const projector = projectorFile(manifest);
  return projector === null ? modelFiles(manifest) : [...modelFiles(manifest), projector];
}

export function blobDigests(manifest: ModelManifest): string[] {
  return manifest.files.filter(isBlobFile).map((file) => file.digest);
}

/** Parses and checks the text of a manifest; `expectedId` is what its file name says. */
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

/** A chat model whose file has no chat template; its user may have set one. */
export function isWithoutTemplate({ kind, facts }: ModelManifest): boolean {
  return kind === 'chat' && !facts.hasChatTemplate;
}

/** A chat model without any template: neither its file nor its user has one. */
export function isBaseModel(model: ModelManifest): boolean {
  return isWithoutTemplate(model) && model.params.template === undefined;
}

/** Tokens of an answer that neither the request nor the model limits; null: the worker decides, by the vocabulary. */
export function unnamedLimit(model: ModelManifest): number | null {
  if (isBaseModel(model)) return BASE_MODEL_TOKENS;
  return isWithoutTemplate(model) ? CHOSEN_TEMPLATE_TOKENS : null;
}

/** A model that requests may name, which an adapter is not. */
export type ServedManifest = ModelManifest & { readonly kind: ModelKind };

export function isServed(manifest: ModelManifest): manifest is ServedManifest {
  return manifest.kind !== 'adapter';
}
