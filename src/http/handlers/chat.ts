import type { FastifyRequest } from 'fastify';
import { fail } from '../../errors/svc-error.ts';
import type { ChatRequest } from '../../protocol/chat.ts';
import { frozenMode, headerNames } from '../../protocol/headers.ts';
import { completeChat, prepareChat, streamChat } from '../../router/chat.ts';
import { dryRunChat } from '../../router/dry-run.ts';
import type { Service } from '../../router/service.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { sendStream } from '../sse.ts';
import { type Handler, requestFacts } from './handler.ts';

export function chatHandler(service: Service): Handler {
  return async (request, reply) => {
    const frozen = wantsFrozen(request);
    const abort = abortOnDisconnect(reply);
    const facts = requestFacts(request, abort.signal);
    const body = request.body as ChatRequest;
    const prepared = await prepareChat(service, body, facts);
    if (prepared.ignoredHeader !== null) reply.header(headerNames.ignoredParams, prepared.ignoredHeader);
    if (isDryRun(request)) {
      // Another shape than the answer of this route, so it is written here and not by the route's schema.
      reply.type('application/json; charset=utf-8');
      return JSON.stringify(await dryRunChat(service, prepared, facts));
    }
    if (body.stream === true) {
      // The mode applies to whole answers only; a stream says so instead of pretending.
      if (frozen) reply.header(headerNames.evidenceMode, 'none');
      return sendStream(reply, streamChat(service, prepared, facts), {
        clock: service.clock,
        log: service.log,
        headAfterMs: service.options.streamHeadAfterMs,
        abort: () => abort.abort(),
      });
    }
    const answer = await completeChat(service, prepared, facts);
    reply.header(headerNames.numCtx, String(answer.numCtx));
    return answer.body;
  };
}

function isDryRun(request: FastifyRequest): boolean {
  const { svc_dry_run: asked } = request.query as { svc_dry_run?: string };
  return asked === '1' || asked === 'true';
}

function wantsFrozen(request: FastifyRequest): boolean {
  const mode = request.headers['x-svc-evidence-mode'];
  if (mode === undefined) return false;
  if (mode === frozenMode) return true;
  throw fail('invalid_request', {
    message: `${headerNames.evidenceMode} must be ${frozenMode}; leave it out for an ordinary answer.`,
    param: headerNames.evidenceMode,
  });
}
