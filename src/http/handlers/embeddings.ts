import type { EmbeddingRequest } from '../../wire/inference/embeddings.ts';
import { headerNames } from '../../wire/headers.ts';
import { embed } from '../../api/embedding/embeddings.ts';
import type { Service } from '../../api/service.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { type Handler, requestFacts } from './handler.ts';

export function embeddingsHandler(service: Service): Handler {
  return async (request, reply) => {
    const { signal } = abortOnDisconnect(reply);
    const answer = await embed(service, request.body as EmbeddingRequest, requestFacts(request, signal));
    reply.header(headerNames.embedBackend, answer.backend).header(headerNames.embeddingSpace, answer.space);
    if (answer.ignoredHeader !== null) reply.header(headerNames.ignoredParams, answer.ignoredHeader);
    return answer.body;
  };
}
