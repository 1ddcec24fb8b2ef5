/**
 * api/embedding owns POST /v1/embeddings, and the vectors of texts for it and for reranking: by a model, or by the
 * feature-hash fallback where the operator allows it, never a mixture. It knows nothing of how a model computes them.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { toBase64 } from '../../lib/base/vector.ts';
import { EmbeddingRequest, type EmbeddingResponse } from '../../wire/inference/embeddings.ts';
import type { Caller } from '../caller.ts';
import { checkIgnored, unknownFields } from '../generation/parameters.ts';
import { readEmbeddingInput } from './texts.ts';
import { computeVectors, type VectorPorts, type Vectors } from './vectors.ts';
import { answerWidth } from './width.ts';

export interface EmbeddingPorts extends VectorPorts {
  readonly options: VectorPorts['options'] & { readonly strictParams: boolean };
}

export interface EmbeddingAnswer {
  readonly body: EmbeddingResponse;
  readonly backend: Vectors['backend'];
  /** Names the vector space; vectors of two spaces must never be compared. */
  readonly space: string;
  /** Fields that had no effect. */
  readonly ignored: readonly string[];
}

export async function embed(
  ports: EmbeddingPorts,
  body: EmbeddingRequest,
  caller: Caller,
): Promise<EmbeddingAnswer> {
  const ignored = unknownFields(body, EmbeddingRequest.properties);
  checkIgnored(ports.options.strictParams, ignored);
  const vectors = await computeVectors(ports, {
    ...readEmbeddingInput(body.input),
    model: body.model,
    widthOf: (model) => answerWidth(model, body.dimensions ?? null),
    truncate: body.truncate === true,
    keepAlive: body.keep_alive,
    caller,
  });
  return {
    backend: vectors.backend,
    space: vectors.space,
    ignored,
    body: {
      object: 'list',
      data: await written(vectors.items, body.encoding_format === 'base64' ? toBase64 : Array.from<number>),
      model: vectors.model,
      usage: { prompt_tokens: vectors.tokens, total_tokens: vectors.tokens },
    },
  };
}

/** Vectors that are written before others have their turn on the event loop. */
const WRITTEN_AT_ONCE = 64;

async function written(
  items: Vectors['items'],
  write: (vector: Float32Array) => string | number[],
): Promise<EmbeddingResponse['data']> {
  const data: EmbeddingResponse['data'] = [];
  for (const [index, { vector, truncated }] of items.entries()) {
    if (index % WRITTEN_AT_ONCE === WRITTEN_AT_ONCE - 1) await turn();
    const embedding = write(vector);
    data.push({ object: 'embedding', index, embedding, ...(truncated ? { truncated: true as const } : {}) });
  }
  return data;
}
