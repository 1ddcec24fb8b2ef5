import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LibraryUseCases, Progress } from '../../api/library.ts';
import {
  type AliasRequest,
  type ImportRequest,
  type ModelQuery,
  type NamedModel,
  type PlanQuery,
  PROGRESS_EVENTS,
  type PullRequest,
  type QuantsQuery,
  type RestoreRequest,
  type SearchQuery,
  type SettingsRequest,
} from '../../../wire/operation/library.ts';
import { abortOnDisconnect, type Handler } from './handler.ts';
import { framingFor } from '../framing.ts';
import { asSvcError, describeFailure } from '../error-response.ts';
import { readSender } from '../error-shape.ts';
import { isOwner, keyHolder } from '../hooks.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { noteFailure } from '../request-log.ts';
import { PendingItems, sendHead, type StreamOptions, takeReply, write } from '../sse.ts';

type Names =
  | 'library'
  | 'foreignModels'
  | 'quants'
  | 'searchModels'
  | 'loadPlan'
  | 'modelEval'
  | 'modelPassport'
  | 'pullModel'
  | 'importModel'
  | 'verifyModel'
  | 'removeModel'
  | 'restoreModel'
  | 'defaultModel'
  | 'aliasModel'
  | 'setModel';

export function libraryHandlers(library: LibraryUseCases, streams: StreamOptions): Record<Names, Handler> {
  const long =
    <Body>(start: (body: Body, signal: AbortSignal) => AsyncIterable<Progress>): Handler =>
    async (request, reply) => {
      const client = abortOnDisconnect(reply);
      const items = iterated(start(request.body as Body, client.signal));
      return sendProgress(reply, items, { ...streams, abort: () => client.abort() });
    };
  return {
    library: async (request) => library.show((id) => keyHolder(request)?.isShown(id) ?? true),
    foreignModels: async () => library.foreign(),
    quants: async (request, reply) =>
      library.quants((request.query as QuantsQuery).ref, abortOnDisconnect(reply).signal),
    searchModels: async (request, reply) =>
      library.search((request.query as SearchQuery).words, abortOnDisconnect(reply).signal),
    loadPlan: async (request) => {
      const { model, num_ctx: numCtx } = request.query as PlanQuery;
      return library.plan(model, numCtx === undefined ? null : Number(numCtx), hiddenFrom(request));
    },
    modelEval: async (request) => library.lastEval((request.query as ModelQuery).model, hiddenFrom(request)),
    modelPassport: async (request) =>
      library.passport((request.query as ModelQuery).model, hiddenFrom(request), isOwner(request)),
    pullModel: long<PullRequest>((body, signal) => library.pull(body, signal)),
    importModel: long<ImportRequest>((body, signal) => library.import(body, signal)),
    verifyModel: long<NamedModel>((body, signal) => library.verify(body, signal)),
    removeModel: async (request) => library.remove(request.body as NamedModel),
    restoreModel: async (request) => library.restore(request.body as RestoreRequest),
    defaultModel: async (request) => library.makeDefault(request.body as NamedModel),
    aliasModel: async (request) => library.alias(request.body as AliasRequest),
    setModel: async (request) => library.set(request.body as SettingsRequest),
  };
}

/** Throws for a model that who asks may not look at. */
function hiddenFrom(request: FastifyRequest): (id: string) => void {
  const holder = keyHolder(request);
  return (id) => {
    if (holder?.isShown(id) === false) throw holder.modelRefusal(id);
  };
}

async function* iterated(items: AsyncIterable<Progress>): AsyncGenerator<Progress, void, void> {
  yield* items;
}

const framed = (event: keyof typeof PROGRESS_EVENTS, data: object): string =>
  `event: ${PROGRESS_EVENTS[event]}\ndata: ${JSON.stringify(data)}\n\n`;

/** A failure before the first event is an ordinary refusal; later it is the last event. */
async function sendProgress(
  reply: FastifyReply,
  items: AsyncGenerator<Progress, void, void>,
  options: StreamOptions & { readonly abort: () => void },
): Promise<FastifyReply> {
  const pending = new PendingItems(items, options.clock);
  let item = await pending.next(HTTP_LIMITS.pingEveryMs);
  const raw = takeReply(reply);
  try {
    sendHead(raw, reply, options);
    while (item !== 'end' && !raw.destroyed) {
      if (item === 'silence') await write(raw, ': ping\n\n');
      else
        await write(raw, 'done' in item ? framed('success', item.done) : framed('progress', item.progress));
      item = await pending.next(HTTP_LIMITS.pingEveryMs);
    }
  } catch (thrown) {
    const error = asSvcError(thrown);
    const requestId = reply.request.id;
    if (error.code === 'internal')
      options.log.error({ err: thrown, requestId }, 'A change failed because of a bug.');
    noteFailure(reply.request, error);
    const { errorBody } = framingFor(undefined, options.chooseShape(readSender(reply.request)));
    await write(raw, framed('error', errorBody(describeFailure(error, requestId))));
  } finally {
    await pending.close();
  }
  raw.end();
  return reply;
}
