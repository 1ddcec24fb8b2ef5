import type { LibraryUseCases, Progress } from '../../api/library.ts';
import type { StreamItem } from '../../api/generation/stream-item.ts';
import type { UseCases } from '../../api/use-cases.ts';
import { refusal } from '../../../lib/errors/refusal.ts';
import type {
  OllamaCopyRequest,
  OllamaPullRequest,
  OllamaShowRequest,
  OllamaStatus,
} from '../../../wire/ollama/models.ts';
import type {
  OllamaChatRequest,
  OllamaEmbeddingsRequest,
  OllamaEmbedRequest,
  OllamaGenerateRequest,
} from '../../../wire/ollama/request.ts';
import { abortOnDisconnect, type Handler, isSeenBy, requireSeen } from './handler.ts';
import { sendStream, type StreamOptions } from '../sse.ts';
import { generationHandler } from './generation.ts';
import { vectorsHandler } from './vectors.ts';

type Names =
  | 'ollamaChat'
  | 'ollamaGenerate'
  | 'ollamaEmbed'
  | 'ollamaEmbeddings'
  | 'ollamaShow'
  | 'ollamaVersion'
  | 'ollamaTags'
  | 'ollamaPs'
  | 'ollamaPull'
  | 'ollamaDelete'
  | 'ollamaCopy';

const SUCCESS: OllamaStatus = { status: 'success' };

export function ollamaHandlers(
  { ollama, library }: Pick<UseCases, 'ollama' | 'library'>,
  streams: StreamOptions,
): Record<Names, Handler> {
  const manner = { streams, dialect: 'ollama' as const, streamsByDefault: true };
  return {
    ollamaChat: generationHandler<OllamaChatRequest>((body, caller) => ollama.chat(body, caller), manner),
    ollamaGenerate: generationHandler<OllamaGenerateRequest>(
      (body, caller) => ollama.generate(body, caller),
      manner,
    ),
    ollamaEmbed: vectorsHandler<OllamaEmbedRequest>((body, caller) => ollama.embed(body, caller)),
    ollamaEmbeddings: vectorsHandler<OllamaEmbeddingsRequest>((body, caller) =>
      ollama.embeddings(body, caller),
    ),
    ollamaShow: async (request) => ollama.show(nameIn(request.body), (id) => requireSeen(request, id)),
    ollamaVersion: async () => ollama.version(),
    ollamaTags: async (request) => {
      const { models } = await ollama.tags();
      return { models: models.filter(({ name }) => isSeenBy(request, name)) };
    },
    ollamaPs: async (request) => {
      const { models } = await ollama.ps();
      return { models: models.filter(({ name }) => isSeenBy(request, name)) };
    },
    ollamaPull: pullHandler(library, streams),
    ollamaDelete: async (request) => {
      await library.remove({ model: nameIn(request.body) });
      return SUCCESS;
    },
    ollamaCopy: async (request) => {
      const { source, destination } = request.body as OllamaCopyRequest;
      await library.copy({ model: source, name: destination });
      return SUCCESS;
    },
  };
}

function nameIn(body: unknown): string {
  const { model, name } = body as OllamaShowRequest;
  const given = model ?? name;
  if (given === undefined || given === null) throw refusal('model', 'is required; add it to the request');
  return given;
}

function pullHandler(library: LibraryUseCases, streams: StreamOptions): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const { stream } = request.body as OllamaPullRequest;
    const lines = pullLines(library.pull({ ref: nameIn(request.body) }, client.signal));
    if (stream !== false)
      return sendStream(reply, lines, { ...streams, dialect: 'ollama', abort: () => client.abort() });
    for await (const _ of lines);
    return SUCCESS;
  };
}

/** The head is sent with the first event, so that an earlier refusal is an ordinary error. */
async function* pullLines(progress: AsyncIterable<Progress>): AsyncGenerator<StreamItem, void, void> {
  let hasStarted = false;
  for await (const each of progress) {
    if (!hasStarted) yield { started: { numCtx: 0 } };
    hasStarted = true;
    yield { chunk: 'done' in each ? SUCCESS : wireStatus(each.progress) };
  }
}

function wireStatus(event: Extract<Progress, { progress: unknown }>['progress']): OllamaStatus {
  if (event.status === 'success') return { status: `installed ${event.id}` };
  if (!('total' in event)) return { status: event.status };
  const { status, file, digest, total, completed } = event;
  return { status: `${status} ${file}`, digest: digest ?? file, total, completed };
}
