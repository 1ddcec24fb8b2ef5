import type { LineEdge } from '../api/batches/ports.ts';
import type { Caller } from '../api/caller.ts';
import type { UseCases } from '../api/use-cases.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { BATCH_ENDPOINTS, type BatchEndpoint } from '../../wire/batches.ts';
import { FROZEN_MODE } from '../../wire/headers.ts';
import type { ChatRequest } from '../../wire/inference/chat.ts';
import type { CompletionRequest } from '../../wire/inference/completions.ts';
import type { EmbeddingRequest } from '../../wire/inference/embeddings.ts';
import type { ResponsesRequest } from '../../wire/responses/request.ts';
import { routes } from '../../wire/routes.ts';
import { errorResponse } from './error-response.ts';
import { requireBody } from './route-checks.ts';
import { refuseDemands } from './unread-fields.ts';

type Answering = Pick<UseCases, 'chat' | 'completion' | 'embedding' | 'responses'>;

/** Clients of batches expect OpenAI's values. */
const CHAT_MANNER = { verbatim: false, readsOpenAi: true };

export function batchEdge(useCases: Answering, mostBytes: number): LineEdge {
  const answers: Record<BatchEndpoint, (body: object, caller: Caller) => Promise<object>> = {
    '/v1/chat/completions': async (body, caller) =>
      (await (await useCases.chat.accept(body as ChatRequest, caller, CHAT_MANNER)).whole()).body,
    '/v1/completions': async (body, caller) =>
      (await (await useCases.completion(body as CompletionRequest, caller)).whole()).body,
    '/v1/embeddings': async (body, caller) =>
      (await useCases.embedding(body as EmbeddingRequest, caller)).body,
    '/v1/responses': async (body, caller) =>
      (await (await useCases.responses.accept(body as ResponsesRequest, caller)).whole()).body,
  };
  return {
    mostBytes,
    async answer(endpoint, body, caller) {
      for (const field of ['stream', 'background'] as const) {
        if (Reflect.get(body, field) !== true) continue;
        const message = `${field} must not be true in a batch; leave it out.`;
        throw fail('unsupported_value', { param: field, message });
      }
      if (Reflect.get(body, 'svc_evidence') === FROZEN_MODE) {
        const message =
          'A batch has no signed records; leave svc_evidence out, or send the request by itself.';
        throw fail('unsupported_value', { param: 'svc_evidence', message });
      }
      const route = routes[BATCH_ENDPOINTS[endpoint]];
      refuseDemands(route, body);
      await requireBody(route.name, body);
      return answers[endpoint](body, caller);
    },
    refusal(error, requestId) {
      const { status, body } = errorResponse(error, { dialect: 'responses', requestId, shape: 'object' });
      return { status, body };
    },
  };
}
