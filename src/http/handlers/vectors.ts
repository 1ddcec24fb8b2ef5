/** Routes that answer with vectors of texts: which engine made them, and their space, stand in headers. */
import type { Caller } from '../../api/caller.ts';
import type { EmbeddingAnswer } from '../../api/embedding/embeddings.ts';
import { HEADERS } from '../../wire/headers.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { setUpstreamHeader } from '../upstream-headers.ts';
import { callerOf, type Handler } from './handler.ts';
import { setNoteHeaders } from './request-notes.ts';

type Vectors = Pick<EmbeddingAnswer, 'backend' | 'space' | 'ignored'> & { readonly body: object };

export function vectorsHandler<Body>(embed: (body: Body, caller: Caller) => Promise<Vectors>): Handler {
  return async (request, reply) => {
    const { signal } = abortOnDisconnect(reply);
    const answer = await embed(request.body as Body, callerOf(request, signal));
    setUpstreamHeader(reply);
    reply.header(HEADERS.embedBackend, answer.backend).header(HEADERS.embeddingSpace, answer.space);
    setNoteHeaders(reply, answer);
    return answer.body;
  };
}
