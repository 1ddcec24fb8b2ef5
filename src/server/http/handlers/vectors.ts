import type { FastifyReply } from 'fastify';
import type { Caller } from '../../api/caller.ts';
import type { EmbeddingAnswer } from '../../api/embedding/embeddings.ts';
import type { UseCases } from '../../api/use-cases.ts';
import { HEADERS } from '../../../wire/headers.ts';
import type { EmbeddingRequest } from '../../../wire/inference/embeddings.ts';
import { abortOnDisconnect, toCaller, type Handler } from './handler.ts';
import { setUpstreamHeader } from '../upstream-headers.ts';
import { askedEvidence, frozenInput, nameRecord } from './chat.ts';
import { setNoteHeaders } from '../answer-headers.ts';
import { writeJsonInTurns } from './write-json-in-turns.ts';

type Vectors = Pick<EmbeddingAnswer, 'backend' | 'space' | 'ignored'> & { readonly body: object };

export function embeddingsHandler(useCases: Pick<UseCases, 'embedding' | 'provedEmbedding'>): Handler {
  const plain = vectorsHandler<EmbeddingRequest>((body, caller) => useCases.embedding(body, caller));
  return async (request, reply) => {
    const body = request.body as EmbeddingRequest;
    if (askedEvidence(request, { svc_evidence: body.svc_evidence ?? null }) === 'none')
      return plain(request, reply);
    const { signal } = abortOnDisconnect(reply);
    const answer = await useCases.provedEmbedding(body, toCaller(request, signal), frozenInput(request));
    setHeaders(reply, answer);
    const json = await writeJsonInTurns(answer.body);
    nameRecord(reply, { json, evidenceSha256: answer.evidenceSha256 });
    return json;
  };
}

export function vectorsHandler<Body>(embed: (body: Body, caller: Caller) => Promise<Vectors>): Handler {
  return async (request, reply) => {
    const { signal } = abortOnDisconnect(reply);
    const answer = await embed(request.body as Body, toCaller(request, signal));
    setHeaders(reply, answer);
    return answer.body;
  };
}

function setHeaders(reply: FastifyReply, answer: Omit<Vectors, 'body'>): void {
  setUpstreamHeader(reply);
  reply.header(HEADERS.embedBackend, answer.backend).header(HEADERS.embeddingSpace, answer.space);
  setNoteHeaders(reply, answer);
}
