/**
 * api/rerank owns POST /v1/rerank: documents in the order of how well they answer a query, by a model that ranks pairs,
 * else by comparing vectors. It knows nothing of how a model scores or embeds.
 */
import { RerankRequest, type RerankResponse } from '../../wire/inference/rerank.ts';
import type { Caller } from '../caller.ts';
import { embed, type EmbeddingAnswer, type EmbeddingPorts } from '../embedding/embeddings.ts';
import { newJobId } from '../generation/job-id.ts';
import { checkIgnored, unknownFields } from '../generation/parameters.ts';
import type { Models, ServedModel } from '../models/served-model.ts';
import { runWhole } from '../run-whole.ts';

export interface RerankPorts extends EmbeddingPorts {
  readonly models: EmbeddingPorts['models'] & Pick<Models, 'list'>;
}

export interface RerankAnswer {
  readonly body: RerankResponse;
  /** What made the scores: a model that ranks, or vectors of one of these kinds. */
  readonly backend: 'rank' | EmbeddingAnswer['backend'];
  /** Fields that had no effect. */
  readonly ignored: readonly string[];
}

interface Scores {
  readonly model: string;
  readonly backend: RerankAnswer['backend'];
  /** By document. */
  readonly scores: readonly number[];
  readonly tokens: number;
}

interface Asked {
  readonly body: RerankRequest;
  readonly documents: readonly string[];
  readonly caller: Caller;
}

export async function rerank(ports: RerankPorts, body: RerankRequest, caller: Caller): Promise<RerankAnswer> {
  const ignored = unknownFields(body, RerankRequest.properties);
  checkIgnored(ports.options.strictParams, ignored);
  const documents = body.documents.map((each) =>
    (typeof each === 'string' ? each : each.text).toWellFormed(),
  );
  const asked = { body, documents, caller };
  const ranker = await findRanker(ports.models, body.model ?? null);
  const { model, backend, scores, tokens } =
    ranker === null ? await compareVectors(ports, asked) : await rank(ports.engine, ranker, asked);
  const results = scores
    .map((relevance_score, index) => ({
      index,
      relevance_score,
      ...(body.return_documents === true ? { document: { text: documents[index] ?? '' } } : {}),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, body.top_n ?? documents.length);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return { ignored, backend, body: { object: 'list', model, results, usage } };
}

/** The model that was named, where it ranks; the newest that does, where none was named. */
async function findRanker(models: RerankPorts['models'], name: string | null): Promise<ServedModel | null> {
  if (name !== null) {
    const named = (await models.list()).find(({ id, aliases }) => id === name || aliases.includes(name));
    return named?.pooling === 'rank' ? named : null;
  }
  const rankers = (await models.list()).filter(({ pooling }) => pooling === 'rank');
  return rankers.sort((a, b) => (a.addedAt < b.addedAt ? 1 : -1))[0] ?? null;
}

async function rank(
  engine: RerankPorts['engine'],
  model: ServedModel,
  { body, documents, caller }: Asked,
): Promise<Scores> {
  const job = {
    kind: 'rank' as const,
    jobId: newJobId(caller),
    query: body.query.toWellFormed(),
    documents: [...documents],
    truncate: body.truncate === true,
  };
  const scores: number[] = [];
  let tokens = 0;
  for (const event of await runWhole(engine, { model, job, caller, keepAlive: body.keep_alive })) {
    if (event.type === 'score') scores[event.index] = event.score;
    if (event.type === 'ranked') tokens = event.totalTokens;
  }
  if (scores.length !== documents.length || scores.includes(undefined as never))
    throw new Error(`the worker returned ${scores.length} scores for ${documents.length} documents`);
  return { model: model.id, backend: 'rank', scores, tokens };
}

/** Vectors have length one, so their dot product is the cosine. */
async function compareVectors(ports: RerankPorts, { body, documents, caller }: Asked): Promise<Scores> {
  const request = {
    model: body.model ?? 'default-embedding',
    input: [body.query, ...documents],
    truncate: body.truncate ?? null,
    keep_alive: body.keep_alive ?? null,
  };
  const answer = await embed(ports, request, caller);
  const [query = [], ...vectors] = answer.body.data.map(({ embedding }) => embedding as number[]);
  const scores = vectors.map((vector) => vector.reduce((sum, x, at) => sum + x * (query[at] ?? 0), 0));
  const { model, usage } = answer.body;
  return { model, backend: answer.backend, scores, tokens: usage.total_tokens };
}
