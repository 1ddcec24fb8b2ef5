import type { FastifyRequest } from 'fastify';
import type { ResponsesUseCases } from '../../api/dialects/responses/responses.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import type {
  CompactRequest,
  InputTokensRequest,
  ItemsQuery,
  ResponsesRequest,
} from '../../../wire/responses/request.ts';
import { requireOwner } from '../hooks.ts';
import type { StreamOptions } from '../sse.ts';
import { countHandler, generationHandler } from './generation.ts';
import type { Handler } from './handler.ts';

type Names =
  | 'responses'
  | 'compactResponse'
  | 'inputTokens'
  | 'response'
  | 'deleteResponse'
  | 'responseItems'
  | 'cancelResponse';

export function responseHandlers(
  responses: ResponsesUseCases,
  streams: StreamOptions,
): Record<Names, Handler> {
  return {
    responses: generationHandler<ResponsesRequest>((body, caller) => responses.accept(body, caller), {
      streams,
      dialect: 'responses',
    }),
    inputTokens: countHandler<InputTokensRequest>((body, caller) => responses.countTokens(body, caller)),
    compactResponse: countHandler<CompactRequest>((body, caller) => responses.compact(body, caller)),
    response: async (request) => {
      const { stream } = request.query as { stream?: string };
      if (stream === 'true') {
        const message = 'stream must not be true; a stream is told once and not played again.';
        throw fail('unsupported_value', { param: 'stream', message });
      }
      return responses.get(pathId(request), requireOwner(request));
    },
    deleteResponse: async (request) => responses.delete(pathId(request), requireOwner(request)),
    responseItems: async (request) =>
      responses.inputItems(pathId(request), requireOwner(request), request.query as ItemsQuery),
    cancelResponse: async (request) => responses.cancel(pathId(request), requireOwner(request)),
  };
}

const pathId = ({ params }: FastifyRequest): string => (params as { id: string }).id;
