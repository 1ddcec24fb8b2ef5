import type { FastifyRequest } from 'fastify';
import { PRODUCT_NAME } from '../../api/identity.ts';
import { withModelInfo, withModelInfos } from '../../api/dialects/messages/messages.ts';
import type { UseCases } from '../../api/use-cases.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { HEADERS, headerValue, REQUEST_HEADERS } from '../../../wire/headers.ts';
import type { IdentityQuery } from '../../../wire/identity.ts';
import type { DecisionRequest } from '../../../wire/inference/decisions.ts';
import type { RerankRequest } from '../../../wire/inference/rerank.ts';
import type { DetokenizeRequest, TokenizeRequest } from '../../../wire/inference/tokens.ts';
import type { CountTokensRequest, MessagesRequest } from '../../../wire/messages/request.ts';
import type { RequestQuery } from '../../../wire/operation/requests.ts';
import type { QuitRequest } from '../../../wire/operation/control.ts';
import type { StopRequest } from '../../../wire/operation/control.ts';
import type { PinRequest, UnpinRequest } from '../../../wire/prompt-cache.ts';
import type { UnloadRequest } from '../../../wire/residency.ts';
import { routes } from '../../../wire/routes.ts';
import { refusePageToken } from '../guard/guard.ts';
import { isOwnUser } from '../guard/peer-user.ts';
import { accessFacts, requireOwner, ownKeyName } from '../hooks.ts';
import { abortOnDisconnect, toCaller, type Handler, isSeenBy, requireSeen } from './handler.ts';
import type { StreamOptions } from '../sse.ts';
import { pageHandler, pageRedirect } from '../page.ts';
import { batchHandlers } from './batches.ts';
import { chatHandler, completionHandler } from './chat.ts';
import { withOwnClients } from '../../api/events/engine-view.ts';
import { eventsHandler } from './events.ts';
import { countHandler, generationHandler } from './generation.ts';
import { libraryHandlers } from './library.ts';
import { ollamaHandlers } from './ollama.ts';
import { setNoteHeaders } from '../answer-headers.ts';
import { responseHandlers } from './responses.ts';
import { embeddingsHandler } from './vectors.ts';
import type { LlamaServerUseCases } from '../../api/dialects/llama-server/llama-server.ts';
import type {
  InfillRequest,
  NativeCompletionRequest,
  NativeTokenizeRequest,
} from '../../../wire/llama-server.ts';

export interface EdgeParts {
  readonly pageToken: string;
  readonly pageConnect: readonly string[];
  readonly streams: StreamOptions;
  readonly metrics: {
    readonly contentType: string;
    render(mayRead: (key: string) => boolean): Promise<string>;
  };
  readonly document: () => Promise<object>;
  quit(now: boolean): void;
}

export function handlerTable(
  useCases: UseCases,
  { streams, metrics, document, pageToken, pageConnect, quit }: EdgeParts,
): Record<keyof typeof routes, Handler> {
  return {
    health: async () => useCases.health(),
    ready: async () => useCases.ready(),
    identity: async (request) => useCases.identity((request.query as IdentityQuery).nonce),
    models: async (request) => {
      const { object, data } = await useCases.models.list();
      const list = { object, data: data.filter(({ id }) => isSeenBy(request, id)) };
      return speaksAnthropic(request) ? withModelInfos(list) : list;
    },
    model: async (request) => {
      const name = modelName(request.params);
      if (name === '') {
        const { method, path } = routes.model;
        const instead = `${routes.models.method} ${routes.models.path}`;
        throw fail('route_not_found', { method, path: path.replace('*', ''), instead });
      }
      const entry = await useCases.models.show(name);
      requireSeen(request, entry.id);
      return speaksAnthropic(request) ? withModelInfo(entry) : entry;
    },
    chatCompletions: chatHandler(useCases, streams),
    completions: completionHandler(useCases, streams),
    messages: generationHandler<MessagesRequest>((body, caller) => useCases.messages.accept(body, caller), {
      streams,
      dialect: 'messages',
    }),
    countTokens: countHandler<CountTokensRequest>((body, caller) => useCases.messages.count(body, caller)),
    ...responseHandlers(useCases.responses, streams),
    ...llamaServerHandlers(useCases.llamaServer, streams),
    embeddings: embeddingsHandler(useCases),
    rerank: rerankHandler(useCases),
    decisions: countHandler<DecisionRequest>((body, caller) => useCases.decide(body, caller)),
    tokenize: countHandler<TokenizeRequest>((body, caller) => useCases.tokenize(body, caller)),
    detokenize: countHandler<DetokenizeRequest>((body, caller) => useCases.detokenize(body, caller)),
    cacheReport: async (request) =>
      useCases.cacheReport((request.params as { id: string }).id, requireOwner(request)),
    cachePins: async (request) => useCases.pins.list(requireOwner(request)),
    pinCache: async (request, reply) => {
      const { model } = request.body as PinRequest;
      return useCases.pins.pin(model, toCaller(request, abortOnDisconnect(reply).signal));
    },
    unpinCache: async (request, reply) => {
      const { id } = request.body as UnpinRequest;
      return useCases.pins.unpin(id, toCaller(request, abortOnDisconnect(reply).signal));
    },
    residency: async () => useCases.residency.list(),
    unload: async (request) => useCases.residency.unload((request.body as UnloadRequest).model),
    stopJob: async (request) => useCases.stopJob((request.body as StopRequest).job),
    quit: async (request, reply) => {
      const { now } = request.body as QuitRequest;
      // After the response is sent; otherwise it would be cut off.
      reply.raw.once('close', () => quit(now === true));
      return { ending: true };
    },
    engine: async (request) => {
      const name = ownKeyName(request);
      const state = useCases.events.state();
      return name === null ? state : withOwnClients(state, name);
    },
    events: eventsHandler(useCases, streams),
    requests: async (request) => useCases.requests.list(Number((request.query as RequestQuery).after ?? 0)),
    request: async (request) => useCases.requests.find((request.params as { id: string }).id),
    requestArchive: async (_request, reply) => {
      reply.header('Content-Disposition', 'attachment; filename="hearth-requests.har"');
      return useCases.requests.archive();
    },
    ...libraryHandlers(useCases.library, streams),
    keyUses: async () => ({
      data: useCases.keyUses().map((use) => ({
        name: use.name,
        open_requests: use.openRequests,
        tokens_today: use.tokensToday,
        tokens_per_day: use.tokensPerDay,
      })),
    }),
    pageToken: async (request) => {
      const refusal = refusePageToken(accessFacts(request));
      if (refusal !== null) throw refusal;
      if (!(await isOwnUser(request.raw))) throw fail('page_user_unproven');
      return { token: pageToken };
    },
    ...ollamaHandlers(useCases, streams),
    ...batchHandlers(useCases.batches),
    openApi: openApiHandler(document),
    metrics: async (request, reply) => {
      const name = ownKeyName(request);
      const text = await metrics.render((key) => name === null || key === name);
      return reply.type(metrics.contentType).send(text);
    },
    home: async () => ({
      product: PRODUCT_NAME,
      identity: routes.identity.path,
      documentation: routes.openApi.path,
    }),
    pageRoot: pageRedirect(),
    page: pageHandler(pageConnect),
  };
}

const speaksAnthropic = ({ headers }: FastifyRequest): boolean =>
  headerValue(headers, REQUEST_HEADERS.anthropicVersion) !== undefined;

function openApiHandler(document: EdgeParts['document']): Handler {
  let json: Promise<string> | undefined;
  return async (_request, reply) => {
    json ??= document().then((made) => JSON.stringify(made));
    reply.type('application/json; charset=utf-8');
    return json;
  };
}

const modelName = (params: unknown): string => (params as { '*': string })['*'];

function rerankHandler(useCases: Pick<UseCases, 'rerank'>): Handler {
  return async (request, reply) => {
    const { signal } = abortOnDisconnect(reply);
    const answer = await useCases.rerank(request.body as RerankRequest, toCaller(request, signal));
    reply.header(HEADERS.rerankBackend, answer.backend);
    setNoteHeaders(reply, answer);
    return answer.body;
  };
}

type Names = 'nativeCompletion' | 'infill' | 'nativeTokenize' | 'tokenizerInfo';

function llamaServerHandlers(useCases: LlamaServerUseCases, streams: StreamOptions): Record<Names, Handler> {
  const framing = { streams, dialect: 'llama-server' as const };
  return {
    nativeCompletion: generationHandler<NativeCompletionRequest>(
      (body, caller) => useCases.completion(body, caller),
      framing,
    ),
    infill: generationHandler<InfillRequest>((body, caller) => useCases.infill(body, caller), framing),
    nativeTokenize: countHandler<NativeTokenizeRequest>((body, caller) => useCases.tokenize(body, caller)),
    tokenizerInfo: countHandler((_, caller) => useCases.tokenizerInfo(caller)),
  };
}
