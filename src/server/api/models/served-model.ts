/**
 * server/api/models owns what the use cases know of a model, and the answers about models. It knows nothing of manifests,
 * files or engines beyond the target that it passes on, so that models of several engine kinds can be served
 * together; installed-models.ts alone knows the registry.
 */
import type { Sampling } from '../../../contract/sampling-shapes.ts';
import type { ModelKind } from '../../../contract/load.ts';
import type { ModelSettings } from '../../../contract/settings/shapes.ts';
import type { Medium, ModelTarget } from '../../engine/ports.ts';

export interface ModelDefaults {
  readonly sampling: Sampling;
  readonly maxTokens: number | null;
  readonly stop: readonly string[];
  readonly keepAlive: string | null;
  readonly system: string | null;
  readonly compact: string | null;
  /** Null: the width of the interface. */
  readonly dimensions: number | 'native' | null;
  readonly tokenIds: 'auto' | 'own';
}

export interface ModelProof {
  /** All files of the weights in order; native code opens the first. */
  readonly files: readonly [ProvenFile, ...ProvenFile[]];
  readonly headerSha256: string;
  /** Call after the run: throws evidence_unavailable if other bytes than these may have run. */
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
  /** SHA-256 of the weights, lower-case hex; null: unknown. */
  readonly digest: string | null;
  readonly pooling: string | null;
  readonly embeddingWidth: number | null;
  readonly hasChatTemplate: boolean;
  /** Reads the file. Null: its engine does not report it. */
  readonly template: (() => Promise<string>) | null;
  readonly reasoning: boolean;
  readonly defaults: ModelDefaults;
  readonly settings: ModelSettings;
  target(): ModelTarget;
  /** Hashes of the bytes that run; null: its answers cannot be proved. */
  readonly proof: (() => Promise<ModelProof>) | null;
}

export interface Models {
  list(): Promise<readonly ServedModel[]>;
  find(name: string): Promise<ServedModel>;
  /** Throws model_not_found, no_default_model or wrong_model_kind. */
  resolve(name: string, kind: ModelKind): Promise<ServedModel>;
  defaultId(kind: ModelKind): Promise<string | null>;
}

/** Identifies the weights in derived names: their digest, else id and size. */
export function weightsName({ digest, id, sizeBytes }: ServedModel): string {
  return digest ?? `${id} ${sizeBytes}`;
}
