/** POST /v1/embeddings: native vectors, or the feature-hash fallback where the operator allows it; never a mixture. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { featureCount, featureHash, featureHashModel, featureHashVersion } from './feature-hash.ts';
import { toBase64 } from '../../lib/base/vector.ts';
import type { EmbeddingEvent } from '../../contract/job-event.ts';
import { collectEvents } from '../../engine/collect.ts';
import { fail, isFailure } from '../../lib/errors/svc-error.ts';
import type { InstalledModel } from '../../store/registry/registry.ts';
import { weightsName } from '../model-digest.ts';
import { EmbeddingRequest, type EmbeddingResponse, embeddingWidth } from '../../wire/inference/embeddings.ts';
import { readEmbeddingInput } from './embedding-input.ts';
import { checkIgnored } from '../generation/generation.ts';
import { newJobId } from '../generation/job-id.ts';
import { ignoredHeader, readKeepAlive, unknownFields } from '../generation/parameters.ts';
import type { RequestFacts, Service } from '../service.ts';

export interface EmbeddingAnswer {
  readonly body: EmbeddingResponse;
  readonly backend: 'native' | 'feature-hash';
  /** Names the vector space; vectors of two spaces must never be compared. */
  readonly space: string;
  readonly ignoredHeader: string | null;
}

interface Vectors {
  readonly model: string;
  readonly backend: 'native' | 'feature-hash';
  readonly space: string;
  readonly items: readonly { readonly vector: Float32Array; readonly truncated: boolean }[];
  readonly tokens: number;
}

export async function embed(
  service: Service,
  body: EmbeddingRequest,
  request: RequestFacts,
): Promise<EmbeddingAnswer> {
  const ignored = unknownFields(body, EmbeddingRequest.properties);
  checkIgnored(service, ignored);
  const inputs = readEmbeddingInput(body.input);
  if (body.dimensions !== null && body.dimensions !== undefined && body.dimensions !== embeddingWidth) {
    throw fail('invalid_request', {
      message: 'dimensions must be 768, or leave it out.',
      param: 'dimensions',
    });
  }
  const vectors = await computeVectors(service, body, inputs, request);
  return {
    backend: vectors.backend,
    space: vectors.space,
    ignoredHeader: ignoredHeader(ignored),
    body: {
      object: 'list',
      data: vectors.items.map(({ vector, truncated }, index) => ({
        object: 'embedding' as const,
        index,
        embedding: body.encoding_format === 'base64' ? toBase64(vector) : Array.from(vector),
        ...(truncated ? { truncated: true as const } : {}),
      })),
      model: vectors.model,
      usage: { prompt_tokens: vectors.tokens, total_tokens: vectors.tokens },
    },
  };
}

async function computeVectors(
  service: Service,
  body: EmbeddingRequest,
  inputs: readonly string[],
  request: RequestFacts,
): Promise<Vectors> {
  const { allowHashEmbeddings } = service.options;
  if (allowHashEmbeddings && body.model === featureHashModel) return hashVectors(inputs, request);
  const isDefault = body.model === 'default-embedding';
  try {
    const model = await service.registry.resolve(body.model, 'embedding');
    return await nativeVectors(service, model, body, inputs, request);
  } catch (error) {
    // The fallback stands in only for a default model that cannot run at all, never for one that was asked for by name.
    const cannotRun = isFailure(error, 'no_default_model', 'native_unavailable');
    const namesDefault = isDefault || (await isDefaultEmbedding(service, body.model));
    if (allowHashEmbeddings && cannotRun && namesDefault) return hashVectors(inputs, request);
    throw error;
  }
}

async function isDefaultEmbedding(service: Service, name: string): Promise<boolean> {
  return name === (await service.registry.defaultId('embedding'));
}

/** Computed beside everything else that the server does, so it gives way often. */
async function hashVectors(inputs: readonly string[], { signal }: RequestFacts): Promise<Vectors> {
  const pause = async (): Promise<void> => {
    await setImmediate();
    if (signal.aborted) throw fail('cancelled');
  };
  const items: { vector: Float32Array; truncated: boolean }[] = [];
  let tokens = 0;
  for (const input of inputs) {
    items.push({ vector: await featureHash(input, pause), truncated: false });
    tokens += await featureCount(input, pause);
    await pause();
  }
  return { model: featureHashModel, backend: 'feature-hash', space: featureHashVersion, items, tokens };
}

async function nativeVectors(
  service: Service,
  model: InstalledModel,
  body: EmbeddingRequest,
  inputs: readonly string[],
  request: RequestFacts,
): Promise<Vectors> {
  const job = {
    kind: 'embed' as const,
    jobId: newJobId(request),
    inputs: [...inputs],
    truncate: body.truncate === true,
  };
  const submission = {
    target: service.registry.toTarget(model, service.options),
    job,
    clientKey: request.clientKey,
    numCtx: null,
    keepAliveMs: readKeepAlive(body.keep_alive ?? model.params.keepAlive),
  };
  const items: EmbeddingEvent[] = [];
  let tokens = 0;
  const events = await collectEvents((listener) =>
    service.engine.submit(submission, request.signal, listener),
  );
  for (const event of events) {
    if (event.type === 'embedding') items[event.index] = event;
    if (event.type === 'embedded') tokens = event.totalTokens;
  }
  if (items.length !== inputs.length || items.includes(undefined as never)) {
    throw new Error(`the worker returned ${items.length} vectors for ${inputs.length} inputs`);
  }
  return { model: model.id, backend: 'native', space: embeddingSpace(model), items, tokens };
}

/** Equal for equal weights, pooling and normalisation; docs/embeddings.md says how it is made. */
function embeddingSpace(model: InstalledModel): string {
  const weights = weightsName(model);
  const facts = `svc-embedding-space-1\n${weights}\n${model.facts.pooling ?? 'none'}\nl2\n${embeddingWidth}\n`;
  return `space-${createHash('sha256').update(facts).digest('hex').slice(0, 32)}`;
}
