/**
 * api/embedding owns POST /v1/embeddings: vectors of a model, or of the feature-hash fallback where the operator allows
 * it, never a mixture. It knows nothing of how a model computes its vectors.
 */
import { EMBEDDING_WIDTH, FEATURE_HASH_MODEL } from '../../contract/limits.ts';
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { featureCount, featureHash, FEATURE_HASH_VERSION } from './feature-hash.ts';
import { toBase64 } from '../../lib/base/vector.ts';
import type { EmbeddingEvent } from '../../contract/job-event.ts';
import { fail, isFailure } from '../../lib/errors/svc-error.ts';
import type { Engine } from '../../engine/ports.ts';
import { type Models, type ServedModel, weightsName } from '../models/served-model.ts';
import { EmbeddingRequest, type EmbeddingResponse } from '../../wire/inference/embeddings.ts';
import { answerWidth, fitted } from './width.ts';
import { readEmbeddingInput } from './embedding-input.ts';
import { newJobId } from '../generation/job-id.ts';
import { checkIgnored, unknownFields } from '../generation/parameters.ts';
import { runWhole } from '../run-whole.ts';
import type { Caller } from '../caller.ts';

export interface EmbeddingPorts {
  readonly models: Pick<Models, 'resolve' | 'defaultId'>;
  readonly engine: Pick<Engine, 'submit'>;
  readonly options: { readonly allowHashEmbeddings: boolean; readonly strictParams: boolean };
}

export interface EmbeddingAnswer {
  readonly body: EmbeddingResponse;
  readonly backend: 'native' | 'feature-hash';
  /** Names the vector space; vectors of two spaces must never be compared. */
  readonly space: string;
  /** Fields that had no effect. */
  readonly ignored: readonly string[];
}

interface Vectors {
  readonly model: string;
  readonly backend: 'native' | 'feature-hash';
  readonly space: string;
  readonly items: readonly { readonly vector: Float32Array; readonly truncated: boolean }[];
  readonly tokens: number;
}

export async function embed(
  ports: EmbeddingPorts,
  body: EmbeddingRequest,
  caller: Caller,
): Promise<EmbeddingAnswer> {
  const ignored = unknownFields(body, EmbeddingRequest.properties);
  checkIgnored(ports.options.strictParams, ignored);
  const inputs = readEmbeddingInput(body.input);
  const vectors = await computeVectors(ports, { body, inputs, caller });
  return {
    backend: vectors.backend,
    space: vectors.space,
    ignored,
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

interface Asked {
  readonly body: EmbeddingRequest;
  readonly inputs: readonly string[];
  readonly caller: Caller;
}

async function computeVectors(ports: EmbeddingPorts, asked: Asked): Promise<Vectors> {
  const { models, engine, options } = ports;
  const { body } = asked;
  const { allowHashEmbeddings } = options;
  if (allowHashEmbeddings && body.model === FEATURE_HASH_MODEL) return hashVectors(asked);
  const isDefault = body.model === 'default-embedding';
  try {
    return await modelVectors(engine, await models.resolve(body.model, 'embedding'), asked);
  } catch (error) {
    // The fallback stands in only for a default model that cannot run at all, never for one that was asked for by name.
    const cannotRun = isFailure(error, 'no_default_model', 'native_unavailable');
    const namesDefault = isDefault || body.model === (await models.defaultId('embedding'));
    if (allowHashEmbeddings && cannotRun && namesDefault) return hashVectors(asked);
    throw error;
  }
}

const HASHED = {
  id: FEATURE_HASH_MODEL,
  name: null,
  architecture: '',
  embeddingWidth: EMBEDDING_WIDTH,
};

/** Computed on the server's own thread, so it gives way often. */
async function hashVectors({ body, inputs, caller: { signal } }: Asked): Promise<Vectors> {
  answerWidth(HASHED, body.dimensions ?? null);
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
  return { model: FEATURE_HASH_MODEL, backend: 'feature-hash', space: FEATURE_HASH_VERSION, items, tokens };
}

async function modelVectors(
  engine: Pick<Engine, 'submit'>,
  model: ServedModel,
  { body, inputs, caller }: Asked,
): Promise<Vectors> {
  if (model.pooling === 'rank') {
    throw fail('wrong_model_kind', {
      model: model.id,
      kind: 'rerank',
      use: 'embeddings',
      wanted: 'embedding',
      param: 'model',
    });
  }
  const dimensions = body.dimensions ?? null;
  const { embeddingWidth } = model;
  // Before anything runs, where the width is known.
  if (embeddingWidth !== null) answerWidth({ ...model, embeddingWidth }, dimensions);
  const job = {
    kind: 'embed' as const,
    jobId: newJobId(caller),
    inputs: [...inputs],
    truncate: body.truncate === true,
  };
  const items: EmbeddingEvent[] = [];
  let tokens = 0;
  for (const event of await runWhole(engine, { model, job, caller, keepAlive: body.keep_alive })) {
    if (event.type === 'embedding') items[event.index] = event;
    if (event.type === 'embedded') tokens = event.totalTokens;
  }
  if (items.length !== inputs.length || items.includes(undefined as never))
    throw new Error(`the worker returned ${items.length} vectors for ${inputs.length} inputs`);

  const own = items[0]?.vector.length ?? 0;
  const width = answerWidth({ ...model, embeddingWidth: own }, dimensions);
  const fit = items.map(({ vector, truncated }) => ({ vector: fitted(vector, width), truncated }));
  return { model: model.id, backend: 'native', space: embeddingSpace(model, width), items: fit, tokens };
}

/** Equal for equal weights, pooling and normalisation; docs/embeddings.md says how it is made. */
function embeddingSpace(model: ServedModel, width: number): string {
  const weights = weightsName(model);
  const facts = `svc-embedding-space-1\n${weights}\n${model.pooling ?? 'none'}\nl2\n${width}\n`;
  return `space-${createHash('sha256').update(facts).digest('hex').slice(0, 32)}`;
}
