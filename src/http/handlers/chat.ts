import { writeJson } from '../../lib/json/spelled-numbers.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../lib/errors/svc-error.ts';
import type { ChatRequest } from '../../wire/inference/chat.ts';
import { FROZEN_MODE, HEADERS, headerValue, REQUEST_HEADERS } from '../../wire/headers.ts';
import type { FrozenInput } from '../../api/dialects/chat-completions/frozen.ts';
import type { AcceptedChatCompletion } from '../../api/dialects/chat-completions/chat-completions.ts';
import type { UseCases } from '../../api/use-cases.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { readsOpenAi, senderOf } from '../error-shape.ts';
import { rawBody } from '../guard/json-body.ts';
import type { StreamOptions } from '../sse.ts';
import { nameUpstream } from '../upstream-headers.ts';
import { sendAnswer } from './generation.ts';
import { withFolds, withUnheld } from '../../api/chat/understood.ts';
import { nameUnderstood } from './understood.ts';
import { callerOf, type Handler } from './handler.ts';
import { createHash } from 'node:crypto';

export function chatHandler(useCases: Pick<UseCases, 'chat'>, streams: StreamOptions): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const body = request.body as ChatRequest;
    const isAskedInBody = body.svc_evidence === FROZEN_MODE;
    const isFrozen = wantsFrozen(request) || isAskedInBody;
    // The header applies to whole answers only; a stream is asked for its record in the body.
    const verbatim = isAskedInBody || (isFrozen && body.stream !== true);
    const accepted = await useCases.chat(body, callerOf(request, client.signal), {
      verbatim,
      readsOpenAi: readsOpenAi(senderOf(request)),
    });
    nameUnderstood(reply, accepted.understood);
    if (isDryRun(request)) return sendJson(reply, writeJson(await accepted.explained()));
    if (isFrozen && body.stream !== true) return sendFrozen(request, reply, accepted);
    // A stream says so instead of pretending.
    if (isFrozen) reply.header(HEADERS.evidenceMode, verbatim ? FROZEN_MODE : 'none');
    if (isAskedInBody) await accepted.prove(frozenInput(request));
    return sendAnswer(
      reply,
      accepted,
      body.stream === true ? { ...streams, abort: () => client.abort() } : null,
    );
  };
}

async function sendFrozen(
  request: FastifyRequest,
  reply: FastifyReply,
  accepted: AcceptedChatCompletion,
): Promise<string> {
  const { json, numCtx, folds, unheld, evidenceSha256 } = await accepted.frozen(frozenInput(request));
  nameUnderstood(reply, withUnheld(withFolds(accepted.understood, folds), unheld));
  nameUpstream(reply);
  reply
    .header(HEADERS.evidenceMode, FROZEN_MODE)
    .header(HEADERS.evidenceDigest, `sha256:${evidenceSha256}`)
    .header(HEADERS.contentDigest, contentDigest(json))
    .header(HEADERS.numCtx, String(numCtx));
  return sendJson(reply, json);
}

function frozenInput(request: FastifyRequest): FrozenInput {
  const bytes = rawBody(request);
  if (bytes === undefined) throw new Error('a chat request came without a body');
  return { rawBody: bytes, nonce: headerValue(request.headers, REQUEST_HEADERS.evidenceNonce) };
}

/** Sends these very bytes, which the schema of the route would write in another shape. */
function sendJson(reply: FastifyReply, json: string): string {
  reply.type('application/json; charset=utf-8');
  return json;
}

function isDryRun(request: FastifyRequest): boolean {
  const { svc_dry_run: asked } = request.query as { svc_dry_run?: string };
  return asked === '1' || asked === 'true';
}

function wantsFrozen(request: FastifyRequest): boolean {
  const name = REQUEST_HEADERS.evidenceMode;
  const mode = headerValue(request.headers, name);
  if (mode === undefined) return false;
  if (mode === FROZEN_MODE) return true;
  throw fail('invalid_request', {
    message: `${name} must be ${FROZEN_MODE}; leave it out for an ordinary answer.`,
    param: name,
  });
}

/** The value of a `Content-Digest` header (RFC 9530) over the bytes of a body. */
export function contentDigest(body: Uint8Array | string): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}
