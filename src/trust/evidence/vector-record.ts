import type { VectorFacts } from '../../contract/frozen.ts';
import { float32Bytes, fromBase64, toBase64 } from '../../lib/base/vector.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { canonicalSha256, sha256Hex } from '../identity/canonical.ts';
import type { Envelope } from '../identity/dsse.ts';
import type { NamedRequest } from './freeze.ts';
import {
  type AnsweredVectors,
  type BackendProvenance,
  statedBackend,
  statedRequest,
  type Signer,
  signStatement,
} from './record.ts';
import { STATEMENT_TYPE } from './statement.ts';
import {
  EMBEDDINGS_ROUTE,
  type VectorPredicate,
  type VectorStatement,
  VECTORS_TYPE,
} from './vector-statement.ts';

export interface RecordedVector {
  readonly tokensSha256: string;
  readonly tokens: number;
  readonly truncated: boolean;
  readonly vector: Float32Array;
}

export interface VectorEvidence {
  readonly member: Envelope;
  readonly payloadSha256: string;
}

export interface VectorAnswer {
  readonly request: NamedRequest;
  readonly facts: VectorFacts;
  readonly model: VectorPredicate['model'];
  readonly backend: BackendProvenance;
  readonly vectors: readonly RecordedVector[];
  readonly modelWidth: number;
  readonly response: AnsweredVectors;
}

export function buildVectorEvidence(
  answer: VectorAnswer,
  { server, ...signer }: Signer & { readonly server: VectorPredicate['server'] },
): VectorEvidence {
  const { request, facts, model, backend, response } = answer;
  const vectors = answer.vectors.map(({ vector }) => vector);
  const { envelope, payloadSha256 } = signStatement(signer, (issuer): VectorStatement => {
    const predicate: VectorPredicate = {
      issuer,
      request: { ...statedRequest(request), route: EMBEDDINGS_ROUTE },
      model,
      server,
      backend: statedBackend(backend, facts.host),
      exec: statedVectorExec(facts),
      vectors: statedVectors(answer),
    };
    return {
      _type: STATEMENT_TYPE,
      subject: [
        { name: 'response', digest: { sha256: vectorResponseSha256(response, vectors) } },
        { name: 'vectors', digest: { sha256: vectorsSha256(vectors) } },
      ],
      predicateType: VECTORS_TYPE,
      predicate,
    };
  });
  return { member: envelope, payloadSha256 };
}

export function statedVectorExec({ exec, workerStart }: VectorFacts): VectorPredicate['exec'] {
  if (exec.gpuLayers !== 0) throw fail('evidence_unavailable', { reason: 'the model has layers on a GPU' });
  return {
    n_ctx: exec.numCtx,
    n_threads: exec.threads,
    contexts: exec.contexts.map(({ longest, flashAttention }) => ({ longest, flash_attn: flashAttention })),
    n_gpu_layers: 0,
    use_mmap: exec.useMmap,
    repack: exec.repack,
    omp: exec.openMp,
    worker_gen: workerStart ?? 1,
  };
}

export function statedVectors({
  facts,
  vectors,
  modelWidth,
}: Pick<VectorAnswer, 'facts' | 'vectors' | 'modelWidth'>): VectorPredicate['vectors'] {
  return {
    width: vectors[0]?.vector.length ?? 0,
    model_width: modelWidth,
    pooling: facts.exec.pooling,
    normalisation: 'l2',
    inputs: vectors.map(({ tokensSha256, tokens, truncated }) => ({
      tokens_sha256: tokensSha256,
      n_tokens: tokens,
      truncated,
    })),
  };
}

export const vectorsSha256 = (vectors: readonly Float32Array[]): string => sha256Hex(float32Bytes(vectors));

/** The digest of the subject `response`, with these vectors as its data. */
export function vectorResponseSha256(
  { model, data, usage }: AnsweredVectors,
  vectors: readonly Float32Array[],
): string {
  const items = vectors.map((vector, at) => ({
    ...(data as readonly object[])[at],
    embedding: toBase64(vector),
  }));
  return canonicalSha256({ data: items, model, usage });
}

export function answeredVectors(data: unknown): Float32Array[] | null {
  if (!Array.isArray(data)) return null;
  const vectors = (data as readonly unknown[]).map(answeredVector);
  return vectors.includes(null) ? null : vectors.filter((vector) => vector !== null);
}

function answeredVector(item: unknown): Float32Array | null {
  if (typeof item !== 'object' || item === null) return null;
  const embedding: unknown = Reflect.get(item, 'embedding');
  if (typeof embedding === 'string') return fromBase64(embedding);
  if (!Array.isArray(embedding)) return null;
  const numbers = embedding as readonly unknown[];
  // A number that only rounds to a 32-bit float is not the answered one.
  const isExact = numbers.every((value) => typeof value === 'number' && Object.is(Math.fround(value), value));
  return isExact ? Float32Array.from(numbers as readonly number[]) : null;
}
