/**
 * api/models owns what the use cases know of a model, and the answers about models. It knows nothing of manifests,
 * files or engines beyond the target that it passes on, so models of several engine kinds can be served together;
 * installed-models.ts alone knows the registry.
 */
import type { Sampling } from '../../contract/sampling-shapes.ts';
import type { ModelKind } from '../../contract/load.ts';
import type { ModelSettings } from '../../contract/settings/shapes.ts';
import type { Medium, ModelTarget } from '../../engine/ports.ts';

/** Defaults of fields that a request leaves out. */
export interface ModelDefaults {
  readonly sampling: Sampling;
  readonly maxTokens: number | null;
  readonly stop: readonly string[];
  /** A duration as a request writes it. */
  readonly keepAlive: string | null;
  /** Precedes conversations that begin without a system message. */
  readonly system: string | null;
  /** Threshold that shortens long conversations: `75%` of the window, or tokens; null: off. */
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
  /** Called after the run: throws evidence_unavailable if other bytes than these may have run. */
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
  readonly engine: string;
  /** Inputs besides text. */
  readonly media: readonly Medium[];
  /** RFC 3339. */
  readonly addedAt: string;
  readonly name: string | null;
  readonly architecture: string;
  readonly quant: string | null;
  readonly parameterCount: number | null;
  /** Trained window, tokens; null: its engine does not report it. */
  readonly contextLength: number | null;
  readonly sizeBytes: number;
  /** SHA-256 of the weights, lower-case hex, when it is known. */
  readonly digest: string | null;
  /** Pooling of token vectors; null if there is none. */
  readonly pooling: string | null;
  /** Numbers of one of its vectors; null: known once there is one. */
  readonly embeddingWidth: number | null;
  /** False: its file has no template and its user set none, so ChatML stands in. */
  readonly hasChatTemplate: boolean;
  /** The chat template in use; null: its engine does not report it. Reads the file. */
  readonly template: (() => Promise<string>) | null;
  /** True if its chat template supports reasoning. */
  readonly reasoning: boolean;
  readonly defaults: ModelDefaults;
  readonly settings: ModelSettings;
  /** Facts for planning and loading it; throws SvcError if its files are unusable. */
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

/** Identifies the weights in derived names: their digest, else id and size. */
export function weightsName({ digest, id, sizeBytes }: ServedModel): string {
  return digest ?? `${id} ${sizeBytes}`;
}
