import type { OllamaEmbedAnswer, OllamaEmbeddingsAnswer } from '../../../../wire/ollama/response.ts';
import { OllamaEmbeddingsRequest, OllamaEmbedRequest } from '../../../../wire/ollama/request.ts';
import type { Caller } from '../../caller.ts';
import type { EmbeddingPorts } from '../../embedding/embeddings.ts';
import { readEmbeddingInput } from '../../embedding/texts.ts';
import { computeVectors, type Vectors } from '../../embedding/vectors.ts';
import { answerWidth } from '../../embedding/width.ts';
import { checkIgnored, unknownFields } from '../../generation/parameters.ts';
import { nanoseconds } from './answer.ts';

export interface OllamaVectors<Body extends object> extends Pick<Vectors, 'backend' | 'space'> {
  readonly body: Body;
  readonly ignored: readonly string[];
}

export async function ollamaEmbed(
  ports: EmbeddingPorts,
  body: OllamaEmbedRequest,
  caller: Caller,
): Promise<OllamaVectors<OllamaEmbedAnswer>> {
  const begunMs = performance.now();
  const input = body.input ?? [];
  const ignored = ignoredFields(ports, body, OllamaEmbedRequest.properties);
  const vectors = await statedVectors(ports, body, { input: isEmpty(input) ? LOADS : input, caller });
  const items = isEmpty(input) ? [] : vectors.items;
  const answer = {
    model: vectors.model,
    embeddings: items.map(({ vector }) => Array.from(vector)),
    total_duration: nanoseconds(performance.now() - begunMs),
    prompt_eval_count: isEmpty(input) ? 0 : vectors.tokens,
  };
  return { backend: vectors.backend, space: vectors.space, ignored, body: answer };
}

export async function ollamaEmbeddings(
  ports: EmbeddingPorts,
  body: OllamaEmbeddingsRequest,
  caller: Caller,
): Promise<OllamaVectors<OllamaEmbeddingsAnswer>> {
  const ignored = ignoredFields(ports, body, OllamaEmbeddingsRequest.properties);
  const { model, prompt, keep_alive = null } = body;
  const asked = { model, keep_alive, input: prompt ?? '' };
  const { body: answer, ...facts } = await ollamaEmbed(ports, asked, caller);
  return { ...facts, ignored, body: { embedding: answer.embeddings[0] ?? [] } };
}

/** An empty text has no vector, and any text loads the model. */
const LOADS = '.';

const isEmpty = (input: string | readonly unknown[]): boolean => input.length === 0;

/** Sampling options do not change a vector, and num_ctx does not change an embedding model's window. */
function ignoredFields(
  { options: { strictParams } }: EmbeddingPorts,
  body: OllamaEmbedRequest | OllamaEmbeddingsRequest,
  known: Readonly<Record<string, unknown>>,
): string[] {
  const options = unknownFields(body.options ?? {}, {}).map((name) => `options.${name}`);
  const ignored = [...unknownFields(body, known), ...options];
  checkIgnored(strictParams, ignored);
  return ignored;
}

function statedVectors(
  ports: EmbeddingPorts,
  body: OllamaEmbedRequest,
  { input, caller }: { readonly input: string | readonly unknown[]; readonly caller: Caller },
): Promise<Vectors> {
  const dimensions = body.dimensions ?? null;
  return computeVectors(ports, {
    ...readEmbeddingInput(input),
    model: body.model,
    outputWidth: (model) => (dimensions === null ? model.embeddingWidth : answerWidth(model, dimensions)),
    truncate: body.truncate !== false,
    keepAlive: body.keep_alive,
    caller,
  });
}
