import { writeJson } from '../../../lib/json/spelled-numbers.ts';
import type { FastifyRequest, FastifyReply } from 'fastify';
import type { ChatRequest } from '../../../wire/inference/chat.ts';
import type { CompletionRequest } from '../../../wire/inference/completions.ts';
import type { UseCases } from '../../api/use-cases.ts';
import { abortOnDisconnect, toCaller, type Handler } from './handler.ts';
import { readsOpenAi, readSender } from '../error-shape.ts';
import type { StreamOptions, SseOptions } from '../sse.ts';
import { setNoteHeaders } from '../answer-headers.ts';
import { createHash } from 'node:crypto';
import type { AcceptedRequest } from '../../api/chat/accepted-request.ts';
import type { FrozenInput, SignedBody } from '../../api/generation/frozen.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { FROZEN_MODE, HEADERS, headerValue, REQUEST_HEADERS } from '../../../wire/headers.ts';
import { rawBody } from '../guard/json-body.ts';
import { setUpstreamHeader } from '../upstream-headers.ts';
import { sendAnswer } from './generation.ts';

export function chatHandler(useCases: Pick<UseCases, 'chat'>, streams: StreamOptions): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const body = request.body as ChatRequest;
    const evidence = askedEvidence(request, body);
    const caller = toCaller(request, client.signal);
    const manner = {
      verbatim: evidence === 'whole' || evidence === 'stream',
      readsOpenAi: readsOpenAi(readSender(request)),
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
    const accepted = await useCases.completion(body, toCaller(request, client.signal));
    setNoteHeaders(reply, accepted.understood);
    const stream = body.stream === true ? { ...streams, abort: () => client.abort() } : null;
    return sendProvable({ request, reply }, accepted, { evidence, stream });
  };
}

function isDryRun(request: FastifyRequest): boolean {
  const { svc_dry_run: asked } = request.query as { svc_dry_run?: string };
  return asked === '1' || asked === 'true';
}

/** `refused`: a stream with the header, which applies to whole answers only. */
export type AskedEvidence = 'none' | 'whole' | 'stream' | 'refused';

export function askedEvidence(
  request: FastifyRequest,
  { stream, svc_evidence }: { readonly stream?: boolean | null; readonly svc_evidence?: string | null },
): AskedEvidence {
  const isInBody = svc_evidence === FROZEN_MODE;
  if (!wantsFrozen(request) && !isInBody) return 'none';
  if (stream !== true) return 'whole';
  return isInBody ? 'stream' : 'refused';
}

export async function sendProvable(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  accepted: AcceptedRequest,
  { evidence, stream }: { readonly evidence: AskedEvidence; readonly stream: SseOptions | null },
): Promise<unknown> {
  if (evidence === 'whole') return sendFrozen(request, reply, accepted);
  if (evidence !== 'none') reply.header(HEADERS.evidenceMode, evidence === 'stream' ? FROZEN_MODE : 'none');
  if (evidence === 'stream') await accepted.prove(frozenInput(request));
  return sendAnswer(reply, accepted, stream);
}

async function sendFrozen(
  request: FastifyRequest,
  reply: FastifyReply,
  accepted: AcceptedRequest,
): Promise<string> {
  const { json, numCtx, evidenceSha256 } = await accepted.frozen(frozenInput(request));
  setNoteHeaders(reply, accepted.understood);
  setUpstreamHeader(reply);
  nameRecord(reply, { json, evidenceSha256 });
  reply.header(HEADERS.numCtx, String(numCtx));
  return json;
}

/** Sets the headers of a signed answer. The caller must send exactly these bytes. */
export function nameRecord(
  reply: FastifyReply,
  { json, evidenceSha256 }: Pick<SignedBody, 'evidenceSha256'> & { readonly json: Uint8Array | string },
): void {
  reply
    .type('application/json; charset=utf-8')
    .header(HEADERS.evidenceMode, FROZEN_MODE)
    .header(HEADERS.evidenceDigest, `sha256:${evidenceSha256}`)
    .header(HEADERS.contentDigest, contentDigest(json));
}

export function frozenInput(request: FastifyRequest): FrozenInput {
  const bytes = rawBody(request);
  if (bytes === undefined) throw new Error('a request for a record came without a body');
  return { rawBody: bytes, nonce: headerValue(request.headers, REQUEST_HEADERS.evidenceNonce) };
}

export function wantsFrozen(request: FastifyRequest): boolean {
  const name = REQUEST_HEADERS.evidenceMode;
  const mode = headerValue(request.headers, name);
  if (mode === undefined) return false;
  if (mode === FROZEN_MODE) return true;
  throw fail('invalid_request', {
    message: `${name} must be ${FROZEN_MODE}; leave it out for an ordinary answer.`,
    param: name,
  });
}

export function contentDigest(body: Uint8Array | string): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}
