/**
 * server/http owns sockets, headers, bodies, statuses and framing: one fastify app over the route table of wire/. It knows
 * nothing of models, engines or keys beyond the use cases that it receives.
 */
import {
  fastify,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Clock } from '../../lib/base/clock.ts';
import { alternatives, nearest } from '../../lib/base/nearest.ts';
import { builtinNamed } from '../../lib/errors/builtin-ids.ts';
import { catalogueEntry } from '../../lib/errors/catalogue.ts';
import { fail, isFailure, isSvcError, type SvcError } from '../../lib/errors/svc-error.ts';
import { HEADERS } from '../../wire/headers.ts';
import { routes } from '../../wire/routes.ts';
import type { ProcessIdentity } from '../api/identity.ts';
import type { UseCases } from '../api/use-cases.ts';
import { asSvcError, errorResponse } from './error-response.ts';
import { type ErrorShape, readSender, shapeBy, type ChooseShape } from './error-shape.ts';
import { type AccessRules, type FreshKeys, isAllowedOrigin } from './guard/guard.ts';
import { RequestPacer } from './guard/request-pacer.ts';
import { isSeenBy } from './handlers/handler.ts';
import { registerRoutes } from './handlers/register.ts';
import { type EdgeParts, handlerTable } from './handlers/table.ts';
import { addHooks, commonHeaders, requestId, routeAccess } from './hooks.ts';
import { type FramingWords, plainRefusal, refuseFraming, watchFraming } from './guard/framing-refusal.ts';
import { readBodies } from './guard/json-body.ts';
import { reasonPhrase } from './guard/raw-answer.ts';
import { HTTP_LIMITS } from './limits.ts';
import { type Address, type Bound, listen as listenAt } from './listen/listen.ts';
import { logRequests, noteFailure, type RequestLogParts } from './request-log.ts';
import { areChecksLoaded, loadChecks } from './route-checks.ts';
import { setUpstreamHeader } from './upstream-headers.ts';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface HttpOptions {
  readonly process: ProcessIdentity;
  readonly access: AccessRules;
  readonly pageToken: string;
  readonly pageConnect: EdgeParts['pageConnect'];
  readonly keys: FreshKeys;
  readonly maxBodyBytes: number;
  /** Without a token for this long, a stream sends its head and reports the wait in comments. */
  readonly streamHeadAfterMs: number;
  readonly errorShape: 'auto' | ErrorShape;
  readonly strictParams: boolean;
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
  readonly metrics: EdgeParts['metrics'] & RequestLogParts['metrics'];
  readonly recorder: RequestLogParts['recorder'];
  readonly tracing: RequestLogParts['tracing'];
  readonly opened: Promise<void>;
  readonly isDraining: () => boolean;
  readonly quit: EdgeParts['quit'];
}

export async function createHttpServer(useCases: UseCases, options: HttpOptions): Promise<FastifyInstance> {
  const words = framingWords(options);
  const { chooseShape } = words;
  const app = createApp(options, words);
  boundSockets(app.server);
  watchFraming(app.server, options.maxBodyBytes, words);
  readBodies(app);
  awaitChecks(app);
  answerErrors(app, { maxBodyBytes: options.maxBodyBytes, chooseShape, models: useCases.models });
  const { clock, logger, metrics, recorder, streamHeadAfterMs } = options;
  logRequests(app, { log: logger, clock, recorder, metrics, tracing: options.tracing });
  addHooks(app, {
    ...options,
    queueFull: (client) => useCases.queueFull(client),
    acquire: new RequestPacer().acquire,
  });
  const { allowedOrigins, allowLocalPages } = options.access;
  if (allowedOrigins.length > 0 || allowLocalPages) await allowOrigins(app, options.access);
  const streams = { clock, log: logger, headAfterMs: streamHeadAfterMs, chooseShape };
  const document = async () => {
    const { openApiDocument } = await import('./openapi.ts');
    return openApiDocument(options.process.version);
  };
  const { pageToken, pageConnect, quit } = options;
  const parts = { streams, metrics, document, pageToken, pageConnect, quit };
  registerRoutes(app, handlerTable(useCases, parts), options.strictParams);
  return app;
}

const framingWords = ({
  process,
  errorShape,
}: Pick<HttpOptions, 'process' | 'errorShape'>): FramingWords => ({
  common: (asked) => commonHeaders(process, requestId(asked)),
  chooseShape: shapeBy(errorShape),
});

function createApp(options: HttpOptions, words: FramingWords): FastifyInstance {
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.maxBodyBytes,
    genReqId: (request) => requestId(request.headers),
    requestTimeout: HTTP_LIMITS.requestTimeoutMs,
    keepAliveTimeout: HTTP_LIMITS.keepAliveTimeoutMs,
    // Draining has its own 503, with ErrorBody.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    http: {
      headersTimeout: HTTP_LIMITS.headersTimeoutMs,
      connectionsCheckingInterval: HTTP_LIMITS.connectionsCheckingIntervalMs,
      maxHeaderSize: HTTP_LIMITS.maxHeaderBytes,
      // The guard refuses a request without Host with a better sentence.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => refuseFraming(error, socket, words),
    // No hook has run for these, so this sets the headers of every response.
    frameworkErrors: (error, request, reply) => {
      const shape = words.chooseShape({ headers: request.headers });
      const failure = translate(error, options.maxBodyBytes);
      const { status, headers, body } = errorResponse(failure, { requestId: request.id, shape });
      // The type expects some route's schema; an ErrorBody is right for all of them.
      const plain = reply as unknown as FastifyReply;
      void plain
        .code(status)
        .headers({ ...commonHeaders(options.process, request.id), ...headers })
        .send(body);
    },
  });
  // Node would silently drop further headers, such as an Origin; hooks.ts refuses them instead.
  app.server.maxHeadersCount = 0;
  return app;
}

function awaitChecks(app: FastifyInstance): void {
  app.addHook('onListen', async () => void loadChecks());
  app.addHook('onRequest', async (request) => {
    // Clients that wait for the service poll this route.
    if (!areChecksLoaded() && request.routeOptions.url !== routes.health.path) await loadChecks();
  });
}

interface ErrorParts {
  readonly maxBodyBytes: number;
  readonly chooseShape: ChooseShape;
  readonly models: UseCases['models'];
}

function answerErrors(app: FastifyInstance, { maxBodyBytes, chooseShape, models }: ErrorParts): void {
  app.setErrorHandler(async (thrown: FastifyError, request, reply) => {
    const error = await withSuggestion(translate(thrown, maxBodyBytes), request, models);
    noteFailure(request, error);
    const family = catalogueEntry(error.code).family;
    if (family === 'bug')
      request.log.error({ err: thrown, requestId: request.id }, 'A request failed because of a bug.');
    if (family === 'cancelled') return reply.hijack();
    setUpstreamHeader(reply);
    const { dialect } = routeAccess(request) ?? {};
    const { status, headers, body, sentence } = errorResponse(error, {
      dialect,
      requestId: request.id,
      shape: chooseShape(readSender(request)),
    });
    reply.raw.statusMessage = reasonPhrase(sentence);
    return reply.code(status).headers(headers).send(body);
  });
}

/** Suggests only names that the key may use. A built-in model has its own remedy. */
async function withSuggestion(
  error: SvcError,
  request: FastifyRequest,
  models: UseCases['models'],
): Promise<SvcError> {
  if (!isFailure(error, 'model_not_found') || builtinNamed(error.detail.model) !== null) return error;
  const { data } = await models.list();
  const seen = data.filter(({ id }) => isSeenBy(request, id));
  const names = nearest(
    error.detail.model,
    seen.flatMap(({ id, aliases = [] }) => [id, ...aliases]),
  );
  return names.length === 0
    ? error
    : fail('model_not_found', { ...error.detail, alike: alternatives(names) }, error);
}

function translate(thrown: FastifyError | Error, maxBodyBytes: number): SvcError {
  if (isSvcError(thrown)) return thrown;
  switch ((thrown as FastifyError).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return fail('body_too_large', { limitBytes: maxBodyBytes }, thrown);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return fail('unsupported_media_type', {}, thrown);
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return fail('invalid_json', { reason: 'it is empty or shorter than its Content-Length' }, thrown);
    case 'ERR_STREAM_PREMATURE_CLOSE':
    case 'ECONNRESET':
      return fail('cancelled', {}, thrown);
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return fail('invalid_request', { message: 'The request path is not valid.' }, thrown);
    default:
      return asSvcError(thrown);
  }
}

async function allowOrigins(app: FastifyInstance, access: AccessRules): Promise<void> {
  const { default: cors } = await import('@fastify/cors');
  await app.register(cors, {
    origin: (origin, done) => done(null, origin !== undefined && isAllowedOrigin(access, origin)),
    methods: ['GET', 'POST', 'DELETE'],
    exposedHeaders: Object.values(HEADERS),
  });
}

export function listen(
  app: FastifyInstance,
  options: Pick<HttpOptions, 'process' | 'errorShape' | 'clock'>,
  address: Address,
): Promise<Bound> {
  const { clock } = options;
  return listenAt(app, { ...address, clock, plainRefusal: () => plainRefusal(framingWords(options)) });
}

/** Call it after every answer: the remaining sockets are idle, within a request, or stalled readers. */
export async function close(app: FastifyInstance, clock: Clock): Promise<void> {
  const cancel = clock.after(HTTP_LIMITS.closeGraceMs, () => app.server.closeAllConnections());
  await app.close();
  cancel();
}

/** Bounds the open sockets without refusing new ones: it closes the oldest that has not sent a request. */
function boundSockets(server: Server, maxSockets: number = HTTP_LIMITS.maxSockets): void {
  const silent = new Set<Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open += 1;
    silent.add(socket);
    socket.once('close', () => {
      open -= 1;
      silent.delete(socket);
    });
    if (open <= maxSockets) return;
    const [oldest] = silent;
    oldest?.destroy();
  });
  server.on('request', (request) => silent.delete(request.socket));
}
