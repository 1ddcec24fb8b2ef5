/**
 * api/models owns what the use cases know of a model, and the answers about models. It knows nothing of manifests,
 * files or engines beyond the target that it passes on, so models of several engine kinds can be served together;
 * installed-models.ts alone knows the registry.
 */
import type { Sampling } from '../../contract/sampling-shapes.ts';
import type { ModelKind } from '../../contract/load.ts';
import type { ModelSettings } from '../../contract/settings/shapes.ts';
import type { Medium, ModelTarget } from '../../engine/ports.ts';

/** What stands in for the fields that a request leaves out. */
export interface ModelDefaults {
  readonly sampling: Sampling;
  readonly maxTokens: number | null;
  readonly stop: readonly string[];
  /** A duration as a request writes it. */
  readonly keepAlive: string | null;
  /** Precedes conversations that begin without a system message. */
  readonly system: string | null;
  /** From where on long conversations are made shorter: `75%` of the window, or tokens; null: they are not. */
  readonly compact: string | null;
  /** Numbers of a vector; null: those of the interface. */
  readonly dimensions: number | 'native' | null;
  /** `own`: token ids in place of texts are of its vocabulary. */
  readonly tokenIds: 'auto' | 'own';
}

/** The bytes that a signed answer names. */
export interface ModelProof {
  /** Every file of the weights in order; the first is the one that is opened. */
  readonly files: readonly [ProvenFile, ...ProvenFile[]];
  readonly headerSha256: string;
  /** Asked after the run: throws evidence_unavailable when other bytes than these may have run. */
  confirm(): Promise<void>;
}

export interface ProvenFile {
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface ServedModel {
  readonly id: string;
  readonly kind: ModelKind;
  readonly aliases: readonly string[];
  readonly ownedBy: string;
  /** The kind of engine that runs it. */
  readonly engine: string;
  /** What it takes besides text. */
  readonly media: readonly Medium[];
  /** RFC 3339. */
  readonly addedAt: string;
  /** As its file calls it. */
  readonly name: string | null;
  readonly architecture: string;
  readonly quant: string | null;
  readonly parameterCount: number | null;
  /** Tokens; null: its engine does not tell. */
  readonly contextLength: number | null;
  readonly sizeBytes: number;
  /** SHA-256 of the weights, lower-case hex, when it is known. */
  readonly digest: string | null;
  /** How token vectors become one; null where that does not apply. */
  readonly pooling: string | null;
  /** Numbers of one of its vectors; null: known once there is one. */
  readonly embeddingWidth: number | null;
  /** False: ChatML stands in for the template that its file lacks, and its user chose none. */
  readonly hasChatTemplate: boolean;
  /** The text of the chat template in use; null: its engine does not tell. Reads the file. */
  readonly template: (() => Promise<string>) | null;
  /** Whether its chat template can ask for reasoning. */
  readonly reasoning: boolean;
  readonly defaults: ModelDefaults;
  /** What its user set for its loads. */
  readonly settings: ModelSettings;
  /** What the engine must know to load and plan it; throws SvcError when its files are not usable. */
  target(): ModelTarget;
  /** Hashes of the bytes that run, or null for a model whose answers cannot be proved. */
  readonly proof: (() => Promise<ModelProof>) | null;
}

export interface Models {
  /** Every model, sorted by id. */
  list(): Promise<readonly ServedModel[]>;
  /** The model of that id or alias, whatever its kind. */
  find(name: string): Promise<ServedModel>;
  /** The model that serves a request for `name`; throws model_not_found, no_default_model or wrong_model_kind. */
  resolve(name: string, kind: ModelKind): Promise<ServedModel>;
  /** The id that the default alias of a kind means now; null when nothing can serve it. */
  defaultId(kind: ModelKind): Promise<string | null>;
}

/** What stands for the weights in derived names: their digest, else id and size. */
export function weightsName({ digest, id, sizeBytes }: ServedModel): string {
  return digest ?? `${id} ${sizeBytes}`;
}
