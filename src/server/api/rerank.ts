/** POST /v1/rerank: sorts documents by a model that ranks pairs, or else by comparing vectors. */
import { MOST_DOCUMENTS, RerankRequest, type RerankResponse } from '../../wire/inference/rerank.ts';
import { fail, isFailure } from '../../lib/errors/svc-error.ts';
import { type Caller, newJobId } from './caller.ts';
import type { EmbeddingPorts } from './embedding/embeddings.ts';
import { computeVectors, type Vectors } from './embedding/vectors.ts';
import { checkIgnored, unknownFields } from './generation/parameters.ts';
import type { Models, ServedModel } from './models/served-model.ts';
import { runWhole } from './run-whole.ts';
import { readText, refuse } from './embedding/texts.ts';

export interface RerankPorts extends EmbeddingPorts {
  readonly models: EmbeddingPorts['models'] & Pick<Models, 'list'>;
}

export interface RerankAnswer {
  readonly body: RerankResponse;
  readonly backend: 'rank' | Vectors['backend'];
  readonly ignored: readonly string[];
}

interface Score {
  readonly score: number;
  readonly truncated: boolean;
}

interface Scores {
  readonly model: string;
  readonly backend: RerankAnswer['backend'];
  readonly scores: readonly Score[];
  readonly tokens: number;
}

interface Asked {
  readonly body: RerankRequest;
  readonly query: string;
  readonly documents: readonly string[];
  readonly caller: Caller;
}

export async function rerank(ports: RerankPorts, body: RerankRequest, caller: Caller): Promise<RerankAnswer> {
  const ignored = unknownFields(body, RerankRequest.properties);
  checkIgnored(ports.options.strictParams, ignored);
  const query = readQuery(body.query);
  const documents = readDocuments(body.documents);
  const asked = { body, query, documents, caller };
  const ranker = await findRanker(ports.models, body.model ?? null);
  const { model, backend, scores, tokens } =
    ranker === null ? await compareVectors(ports, asked) : await rank(ports.engine, ranker, asked);
  const results = scores
    .map(({ score, truncated }, index) => ({
      index,
      relevance_score: score,
      ...(body.return_documents === true ? { document: { text: documents[index] ?? '' } } : {}),
      ...(truncated ? { truncated: true as const } : {}),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, body.top_n ?? documents.length);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return { ignored, backend, body: { object: 'list', model, results, usage } };
}

/** The named model if it ranks; without a name, the newest that does. */
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
  { body, query, documents, caller }: Asked,
): Promise<Scores> {
  const job = {
    kind: 'rank' as const,
    jobId: newJobId(caller),
    query,
    documents: [...documents],
    truncate: body.truncate === true,
  };
  const scores: Score[] = [];
  let tokens = 0;
  for (const event of await runWhole(engine, { model, job, caller, keepAlive: body.keep_alive })) {
    if (event.type === 'score') scores[event.index] = event;
    if (event.type === 'ranked') tokens = event.totalTokens;
  }
  if (scores.length !== documents.length || scores.includes(undefined as never))
    throw new Error(`the worker returned ${scores.length} scores for ${documents.length} documents`);
  return { model: model.id, backend: 'rank', scores, tokens };
}

/** Vectors have length one, so their dot product is the cosine. Each keeps its model's width. */
async function compareVectors(
  ports: RerankPorts,
  { body, query, documents, caller }: Asked,
): Promise<Scores> {
  const asked = {
    texts: [query, ...documents],
    inputName: (index: number) => (index === 0 ? 'query' : documentName(index - 1)),
    model: body.model ?? 'default-embedding',
    outputWidth: (model: { readonly embeddingWidth: number }) => model.embeddingWidth,
    truncate: body.truncate === true,
    keepAlive: body.keep_alive,
    caller,
  };
  const { model, backend, items, tokens } = await computeVectors(ports, asked).catch(inItsWords);
  const [of, ...others] = items;
  const scores = others.map(({ vector, truncated }) => ({
    score: vector.reduce((sum, x, at) => sum + x * (of?.vector[at] ?? 0), 0),
    truncated: truncated || of?.truncated === true,
  }));
  return { model, backend, scores, tokens };
}

/** Replaces the error of a vector request: the client requested a ranking. */
function inItsWords(error: unknown): never {
  if (!isFailure(error, 'wrong_model_kind')) throw error;
  throw fail('wrong_model_kind', { ...error.detail, use: 'reranking', wanted: 'rerank or embedding' });
}

const documentName = (index: number): string => `documents[${index}]`;

function readQuery(query: RerankRequest['query']): string {
  const remedy = 'send the text that the documents are to answer';
  if (typeof query !== 'string') refuse(`query must be a string; ${remedy}.`, 'query');
  if (query === '') refuse(`query must not be empty; ${remedy}.`, 'query');
  return readText(query, 'query', 'shorten it');
}

function readDocuments(documents: RerankRequest['documents']): string[] {
  const form = `a list of 1 to ${MOST_DOCUMENTS} strings`;
  if (!Array.isArray(documents)) return refuse(`documents must be an array; send ${form}.`, 'documents');
  if (documents.length === 0) refuse(`documents must not be an empty array; send ${form}.`, 'documents');
  if (documents.length > MOST_DOCUMENTS) {
    refuse(
      `documents has ${documents.length} items; send at most ${MOST_DOCUMENTS} per request.`,
      'documents',
    );
  }
  return documents.map((each: unknown, index) => {
    const name = documentName(index);
    const text = typeof each === 'object' && each !== null && 'text' in each ? each.text : each;
    if (typeof text !== 'string') refuse(`${name} must be a string, or an object with a string text.`, name);
    return readText(text, name);
  });
}
