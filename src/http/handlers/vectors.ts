/** Routes that answer with vectors of texts: which engine made them, and their space, stand in headers. */
import type { Caller } from '../../api/caller.ts';
import type { EmbeddingAnswer } from '../../api/embedding/embeddings.ts';
import { HEADERS } from '../../wire/headers.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { nameUpstream } from '../upstream-headers.ts';
import { callerOf, type Handler } from './handler.ts';
import { nameUnderstood } from './understood.ts';

type Vectors = Pick<EmbeddingAnswer, 'backend' | 'space' | 'ignored'> & { readonly body: object };

export function vectorsHandler<Body>(embed: (body: Body, caller: Caller) => Promise<Vectors>): Handler {
  return async (request, reply) => {
    const { signal } = abortOnDisconnect(reply);
    const answer = await embed(request.body as Body, callerOf(request, signal));
    nameUpstream(reply);
    reply.header(HEADERS.embedBackend, answer.backend).header(HEADERS.embeddingSpace, answer.space);
    nameUnderstood(reply, answer);
    return answer.body;
  };
}
