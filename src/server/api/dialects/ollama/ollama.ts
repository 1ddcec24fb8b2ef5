/**
 * server/api/dialects/ollama owns Ollama's API: chat and generate over the one use case of chat, vectors, and its lists of
 * models. It knows no store, no engine and no socket.
 */
import type { OllamaPs, OllamaShow, OllamaTags, OllamaVersion } from '../../../../wire/ollama/models.ts';
import { OLLAMA_API_VERSION } from '../../../../wire/ollama/models.ts';
import type {
  OllamaChatRequest,
  OllamaEmbeddingsRequest,
  OllamaEmbedRequest,
  OllamaGenerateRequest,
} from '../../../../wire/ollama/request.ts';
import type { OllamaEmbedAnswer, OllamaEmbeddingsAnswer } from '../../../../wire/ollama/response.ts';
import type { ResidencyList } from '../../../../wire/residency.ts';
import type { Caller } from '../../caller.ts';
import { type AnswerDialect, AcceptedRequest, type RequestPlan } from '../../chat/accepted-request.ts';
import { type ChatPorts, explain, planChat } from '../../chat/chat.ts';
import { answerCalls, answerText } from '../../chat/collected.ts';
import type { RequestNotes } from '../../chat/request-notes.ts';
import type { EmbeddingPorts } from '../../embedding/embeddings.ts';
import { readKeepAlive } from '../../generation/parameters.ts';
import type { StreamItem } from '../../generation/stream-item.ts';
import { listModels, showModel } from '../../models/models.ts';
import type { Models } from '../../models/served-model.ts';
import { AnswerWriter, chatShape, generateShape, type Shape } from './answer.ts';
import { ollamaPs, ollamaShow, ollamaTags } from './discovery.ts';
import { ollamaEmbed, ollamaEmbeddings, type OllamaVectors } from './embed.ts';
import { readChat, readGenerate, readLoad } from './read-request.ts';

export interface OllamaUseCases {
  chat(body: OllamaChatRequest, caller: Caller): Promise<AcceptedOllama>;
  generate(body: OllamaGenerateRequest, caller: Caller): Promise<AcceptedOllama>;
  embed(body: OllamaEmbedRequest, caller: Caller): Promise<OllamaVectors<OllamaEmbedAnswer>>;
  embeddings(body: OllamaEmbeddingsRequest, caller: Caller): Promise<OllamaVectors<OllamaEmbeddingsAnswer>>;
  version(): OllamaVersion;
  tags(): Promise<OllamaTags>;
  ps(): Promise<OllamaPs>;
  /** `check` throws if the caller may not see the model. */
  show(name: string, check: (id: string) => void): Promise<OllamaShow>;
}

export interface OllamaPorts {
  readonly models: Models;
  readonly chat: ChatPorts;
  readonly embedding: EmbeddingPorts;
  readonly residencies: () => ResidencyList;
}

export interface AcceptedOllama {
  readonly understood: RequestNotes;
  whole(): Promise<{ readonly body: object; readonly numCtx: number }>;
  stream(): AsyncGenerator<StreamItem, void, void>;
}

export function ollamaUseCases({ models, chat, embedding, residencies }: OllamaPorts): OllamaUseCases {
  const accept = async (body: OllamaChatRequest | OllamaGenerateRequest, asked: Asked, caller: Caller) => {
    const { shape, isEmpty } = asked;
    const plan = await planChat(chat, isEmpty ? readLoad(body) : asked.read(), caller);
    const { id } = plan.choices.model;
    const writer = new AnswerWriter({ model: id, shape, unixMs: () => chat.clock.unixMs() });
    if (!isEmpty) return new AcceptedRequest(chat.engine, plan, answers(writer));
    return acceptedLoad(chat.engine, plan, { writer, unloads: readKeepAlive(body.keep_alive) === 0 });
  };
  return {
    chat: (body, caller) => {
      const isEmpty = (body.messages ?? []).length === 0;
      return accept(body, { shape: chatShape, isEmpty, read: () => readChat(body) }, caller);
    },
    generate: (body, caller) => {
      const isEmpty = [body.prompt, body.suffix, body.images].every((each) => (each ?? '').length === 0);
      return accept(body, { shape: generateShape, isEmpty, read: () => readGenerate(body) }, caller);
    },
    embed: (body, caller) => ollamaEmbed(embedding, body, caller),
    embeddings: (body, caller) => ollamaEmbeddings(embedding, body, caller),
    version: () => ({ version: OLLAMA_API_VERSION }),
    tags: async () => ollamaTags(await listModels(models)),
    ps: async () => ollamaPs(residencies(), await listModels(models)),
    show: async (name, check) => {
      const model = await models.find(name);
      check(model.id);
      const template = (await model.template?.()) ?? '';
      return ollamaShow(await showModel(models, model.id), model, template);
    },
  };
}

interface Asked {
  readonly shape: Shape;
  readonly isEmpty: boolean;
  readonly read: () => ReturnType<typeof readChat>;
}

const answers = (writer: AnswerWriter): AnswerDialect => ({
  onStarted: () => writer.started(),
  whole: ({ answers: [answer] }) => {
    const words = {
      text: answerText(answer, 'text'),
      reasoning: answerText(answer, 'reasoning'),
      calls: answerCalls(answer),
      tokens: answer.tokens,
    };
    return writer.whole(words, answer.done);
  },
  writer: () => (_index, event) => writer.write(event),
});

function acceptedLoad(
  engine: Pick<ChatPorts['engine'], 'plan' | 'submit'>,
  plan: RequestPlan,
  { writer, unloads }: { readonly writer: AnswerWriter; readonly unloads: boolean },
): AcceptedOllama {
  const whole = async () => {
    const { target, numCtx } = plan.choices.submission;
    // A local model is unloaded as after a request with keep_alive 0; a remote engine manages its own.
    const isIdle = unloads && !engine.plan(target, numCtx).loaded;
    const found = target.capabilities.canExplain && !isIdle ? (await explain(engine, plan)).numCtx : 0;
    return { numCtx: found, body: writer.empty(unloads ? 'unload' : 'load') };
  };
  return {
    understood: plan.understood,
    whole,
    async *stream() {
      const { body, numCtx } = await whole();
      yield { started: { numCtx } };
      yield { chunk: body };
    },
  };
}
