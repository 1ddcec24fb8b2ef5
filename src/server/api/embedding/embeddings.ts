/**
 * server/api/embedding owns POST /v1/embeddings, and the vectors of texts for it and for reranking: by a model, or by the
 * feature-hash fallback if the operator allows it, never a mixture. It knows nothing of how a model computes them.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { FEATURE_HASH_MODEL } from '../../../contract/limits.ts';
import { toBase64 } from '../../../lib/base/vector.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { nameRequest } from '../../../trust/evidence/freeze.ts';
import type { EvidenceIssuer } from '../../../trust/evidence/issuer.ts';
import { REQUEST_HEADERS } from '../../../wire/headers.ts';
import { EmbeddingRequest, type EmbeddingResponse } from '../../../wire/inference/embeddings.ts';
import type { Caller } from '../caller.ts';
import {
  boundIssuer,
  checkedNonce,
  type FrozenInput,
  provenModel,
  unavailable,
} from '../generation/frozen.ts';
import { checkIgnored, unknownFields } from '../generation/parameters.ts';
import { readEmbeddingInput } from './texts.ts';
import {
  computeVectors,
  modelVectors,
  type VectorPorts,
  type Vectors,
  type VectorsAsked,
  vectorModel,
} from './vectors.ts';
import { answerWidth, type WidthFacts } from './width.ts';

export interface EmbeddingPorts extends VectorPorts {
  readonly options: VectorPorts['options'] & { readonly strictParams: boolean };
}

export interface EmbeddingAnswer {
  readonly body: EmbeddingResponse;
  readonly backend: Vectors['backend'];
  /** Names the vector space; vectors of two spaces must never be compared. */
  readonly space: string;
  readonly ignored: readonly string[];
}

export async function embed(
  ports: EmbeddingPorts,
  body: EmbeddingRequest,
  caller: Caller,
): Promise<EmbeddingAnswer> {
  const { ignored, asked } = readRequest(ports, body, caller);
  return wholeAnswer(await computeVectors(ports, asked), body, ignored);
}

export interface ProvedEmbeddingPorts extends EmbeddingPorts {
  readonly evidence: EvidenceIssuer | null;
}

export interface ProvedEmbedding extends EmbeddingAnswer {
  readonly evidenceSha256: string;
}

export async function embedProved(
  ports: ProvedEmbeddingPorts,
  request: EmbeddingRequest,
  { caller, input }: { readonly caller: Caller; readonly input: FrozenInput },
): Promise<ProvedEmbedding> {
  const { ignored, asked } = readRequest(ports, request, caller);
  const { evidence, models, engine } = ports;
  if (ports.options.allowHashEmbeddings && request.model === FEATURE_HASH_MODEL)
    throw cannotFreeze(FEATURE_HASH_MODEL);
  const served = await vectorModel(models, request.model);
  if (!served.target().capabilities.canFreeze) throw cannotFreeze(served.id);
  const { issuer, backend } = await boundIssuer(evidence);
  const named = nameRequest(input.rawBody, { ...request }, checkedNonce(input.nonce));
  // Before the run, so that a model whose bytes cannot be named costs nothing.
  const { model, confirm } = await provenModel(served);
  const vectors = await modelVectors(engine, served, { ...asked, accounts: true });
  const answer = await wholeAnswer(vectors, request, ignored);
  await confirm();
  if (vectors.account === undefined) throw unavailable('the engine reported nothing about the run');
  const { account } = vectors;
  const response = answer.body;
  const signed = await issuer.issueVectors({ ...account, request: named, model, backend, response });
  const body = { ...response, evidence: { ...signed.member } };
  return { ...answer, body, evidenceSha256: signed.payloadSha256 };
}

function readRequest(
  { options }: EmbeddingPorts,
  body: EmbeddingRequest,
  caller: Caller,
): { readonly ignored: readonly string[]; readonly asked: VectorsAsked } {
  const ignored = unknownFields(body, EmbeddingRequest.properties);
  checkIgnored(options.strictParams, ignored);
  const asked = {
    ...readEmbeddingInput(body.input),
    model: body.model,
    outputWidth: (model: WidthFacts) => answerWidth(model, body.dimensions ?? null),
    truncate: body.truncate === true,
    keepAlive: body.keep_alive,
    caller,
  };
  return { ignored, asked };
}

async function wholeAnswer(
  vectors: Vectors,
  { encoding_format }: EmbeddingRequest,
  ignored: readonly string[],
): Promise<EmbeddingAnswer> {
  return {
    backend: vectors.backend,
    space: vectors.space,
    ignored,
    body: {
      object: 'list',
      data: await written(vectors.items, encoding_format === 'base64' ? toBase64 : Array.from<number>),
      model: vectors.model,
      usage: { prompt_tokens: vectors.tokens, total_tokens: vectors.tokens },
    },
  };
}

const cannotFreeze = (model: string): Error =>
  fail('capability_missing', {
    model,
    ability: 'repeat vectors bit for bit, as frozen-v1 promises',
    remedy: `leave the header ${REQUEST_HEADERS.evidenceMode} out`,
    param: REQUEST_HEADERS.evidenceMode,
  });

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
