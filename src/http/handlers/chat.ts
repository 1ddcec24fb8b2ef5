import { writeJson } from '../../lib/json/spelled-numbers.ts';
import type { FastifyRequest } from 'fastify';
import type { ChatRequest } from '../../wire/inference/chat.ts';
import type { CompletionRequest } from '../../wire/inference/completions.ts';
import type { UseCases } from '../../api/use-cases.ts';
import { abortOnDisconnect, callerOf, type Handler } from './handler.ts';
import { readsOpenAi, senderOf } from '../error-shape.ts';
import type { StreamOptions } from '../sse.ts';
import { askedEvidence, sendProvable } from './frozen.ts';
import { setNoteHeaders } from '../answer-headers.ts';

export function chatHandler(useCases: Pick<UseCases, 'chat'>, streams: StreamOptions): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const body = request.body as ChatRequest;
    const evidence = askedEvidence(request, body);
    const caller = callerOf(request, client.signal);
    const manner = {
      verbatim: evidence === 'whole' || evidence === 'stream',
      readsOpenAi: readsOpenAi(senderOf(request)),
    };
    if (isDryRun(request)) {
      const dry = await useCases.chat.dryRun(body, caller, manner);
      setNoteHeaders(reply, dry.understood);
      reply.type('application/json; charset=utf-8');
      return writeJson(dry.body);
    }
    const accepted = await useCases.chat.accept(body, caller, manner);
    setNoteHeaders(reply, accepted.understood);
    const stream = body.stream === true ? { ...streams, abort: () => client.abort() } : null;
    return sendProvable({ request, reply }, accepted, { evidence, stream });
  };
}

export function completionHandler(useCases: Pick<UseCases, 'completion'>, streams: StreamOptions): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const body = request.body as CompletionRequest;
    const evidence = askedEvidence(request, body);
    const accepted = await useCases.completion(body, callerOf(request, client.signal));
    setNoteHeaders(reply, accepted.understood);
    const stream = body.stream === true ? { ...streams, abort: () => client.abort() } : null;
    return sendProvable({ request, reply }, accepted, { evidence, stream });
  };
}

function isDryRun(request: FastifyRequest): boolean {
  const { svc_dry_run: asked } = request.query as { svc_dry_run?: string };
  return asked === '1' || asked === 'true';
}
