import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../lib/errors/svc-error.ts';
import type { ChatRequest } from '../../wire/inference/chat.ts';
import { frozenMode, headerNames, headerValue, requestHeaderNames } from '../../wire/headers.ts';
import { completeChat, prepareChat, type PreparedChat, streamChat } from '../../api/chat/chat.ts';
import { dryRunChat } from '../../api/chat/dry-run.ts';
import { completeFrozen } from '../../api/chat/frozen.ts';
import type { RequestFacts, Service } from '../../api/service.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { contentDigest } from '../content-digest.ts';
import { rawBody } from '../guard/json-body.ts';
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
    if (frozen) return sendFrozen(service, { request, reply, prepared, facts });
    const answer = await completeChat(service, prepared, facts);
    reply.header(headerNames.numCtx, String(answer.numCtx));
    return answer.body;
  };
}

/** Written here and not by the route's schema, because the digest header is over the very bytes that are sent. */
async function sendFrozen(
  service: Service,
  call: { request: FastifyRequest; reply: FastifyReply; prepared: PreparedChat; facts: RequestFacts },
): Promise<string> {
  const { request, reply, prepared, facts } = call;
  const bytes = rawBody(request);
  if (bytes === undefined) throw new Error('a chat request came without a body');
  const nonce = headerValue(request.headers, requestHeaderNames.evidenceNonce);
  const answer = await completeFrozen(
    service,
    prepared,
    { body: request.body as ChatRequest, rawBody: bytes, nonce },
    facts,
  );
  reply.header(headerNames.evidenceMode, frozenMode);
  reply.header(headerNames.evidenceDigest, `sha256:${answer.evidenceSha256}`);
  reply.header(headerNames.contentDigest, contentDigest(answer.json));
  reply.header(headerNames.numCtx, String(answer.numCtx));
  reply.type('application/json; charset=utf-8');
  return answer.json;
}

function isDryRun(request: FastifyRequest): boolean {
  const { svc_dry_run: asked } = request.query as { svc_dry_run?: string };
  return asked === '1' || asked === 'true';
}

function wantsFrozen(request: FastifyRequest): boolean {
  const mode = headerValue(request.headers, requestHeaderNames.evidenceMode);
  if (mode === undefined) return false;
  if (mode === frozenMode) return true;
  throw fail('invalid_request', {
    message: `${headerNames.evidenceMode} must be ${frozenMode}; leave it out for an ordinary answer.`,
    param: headerNames.evidenceMode,
  });
}
