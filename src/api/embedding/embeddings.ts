/**
 * api/embedding owns POST /v1/embeddings, and the vectors of texts for it and for reranking: by a model, or by the
 * feature-hash fallback where the operator allows it, never a mixture. It knows nothing of how a model computes them.
 */
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
