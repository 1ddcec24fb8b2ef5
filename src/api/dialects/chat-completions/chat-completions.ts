/**
 * api/dialects/chat-completions owns POST /v1/chat/completions: its request read into a conversation, and the answer as
 * a whole body, chunks, a signed answer or a dry run. It knows nothing of sockets, headers or files.
 */
import { randomBytes } from 'node:crypto';
import type { EvidenceIssuer } from '../../../trust/evidence/issuer.ts';
import type { DryRun } from '../../../wire/inference/dry-run.ts';
import { ChatRequest } from '../../../wire/inference/chat.ts';
import type { Caller } from '../../caller.ts';
import { withoutSpellings } from '../../../lib/json/spelled-numbers.ts';
import type { Collected } from '../../chat/collected.ts';
import { acceptChat, type AcceptedChat, type ChatPorts } from '../../chat/chat.ts';
import type { RequestNotes } from '../../chat/request-notes.ts';
import type { FrozenInput } from '../../generation/frozen.ts';
import { unknownFields } from '../../generation/parameters.ts';
import { wirePromptLogprobs } from '../../generation/prompt-scores.ts';
import { takenBy } from '../media.ts';
import type { ServedModel } from '../../models/served-model.ts';
import type { StreamItem } from '../../generation/stream-item.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { Omissions } from '../omissions.ts';
import { readContent } from './content.ts';
import { dryRun } from './dry-run.ts';
import { completeFrozen, type FrozenAnswer, type ProvedStream, streamFrozen } from './frozen.ts';
import { idleFields } from './idle-fields.ts';
import { type ChatAnswer, wholeAnswer, type WholeAnswerPorts, withNulls } from './whole-answer.ts';

export interface ChatCompletionPorts extends ChatPorts, WholeAnswerPorts {
  /** Null where no records are signed. */
  readonly evidence: EvidenceIssuer | null;
}

export interface ChatManner {
  /** The model reads the very words that were sent. */
  readonly verbatim: boolean;
  /** The sender reads OpenAI's finish reasons. */
  readonly readsOpenAi: boolean;
}

export type AcceptChatCompletion = (
  body: ChatRequest,
  caller: Caller,
  manner?: ChatManner,
) => Promise<AcceptedChatCompletion>;

export const acceptChatCompletion =
  (ports: ChatCompletionPorts): AcceptChatCompletion =>
  async (body, caller, { verbatim, readsOpenAi } = { verbatim: false, readsOpenAi: false }) => {
    const omissions = new Omissions();
    const ask = {
      verbatim,
      model: body.model,
      // A record names the canonical request, so its prompt is made of that.
      content: (model: ServedModel, fetches: boolean) =>
        readContent(verbatim ? withoutSpellings(body) : body, takenBy(model, fetches), omissions),
      options: body,
      idle: ({ reasoning }: { readonly reasoning: boolean }) => [
        ...idleFields(body, reasoning),
        ...omissions.paths,
        ...unknownFields(body, ChatRequest.properties),
      ],
    };
    return new AcceptedChatCompletion(ports, await acceptChat(ports, ask, caller), { body, readsOpenAi });
  };

/** A request that may run; it runs once, in one of these ways. */
export class AcceptedChatCompletion {
  readonly #ports: ChatCompletionPorts;
  readonly #chat: AcceptedChat;
  readonly #body: ChatRequest;
  readonly #readsOpenAi: boolean;
  #proved: ProvedStream | null = null;

  constructor(
    ports: ChatCompletionPorts,
    chat: AcceptedChat,
    { body, readsOpenAi }: { readonly body: ChatRequest } & Pick<ChatManner, 'readsOpenAi'>,
  ) {
    this.#ports = ports;
    this.#chat = chat;
    this.#body = body;
    this.#readsOpenAi = readsOpenAi;
  }

  get understood(): RequestNotes {
    return this.#chat.understood;
  }

  async whole(): Promise<ChatAnswer> {
    const collected = await this.#chat.whole();
    const answer = withNulls(await wholeAnswer(this.#ports, this.#chat.choices.model, collected));
    const { prompt_logprobs: top } = this.#body;
    if (typeof top !== 'number') return answer;
    const [{ promptTokens }] = collected.answers;
    return { ...answer, body: { ...answer.body, ...wirePromptLogprobs(promptTokens, top) } };
  }

  /** The stream will end with a record of its answer; to be called before it runs. */
  async prove(input: FrozenInput): Promise<void> {
    const { choices, caller } = this.#chat;
    this.#proved = await streamFrozen(this.#ports, choices, { ...input, body: this.#body, caller });
  }

  stream(): AsyncGenerator<StreamItem, void, void> {
    const proved = this.#proved;
    const headed = this.#streamHead();
    const proof = proved && {
      choices: proved.pinned,
      chunkOf: async (answer: Collected) => ({
        ...(await headed),
        choices: [],
        ...(await proved.recordOf(answer)),
      }),
    };
    return this.#chat.stream(async () => {
      const writer = new ChunkWriter(await headed, this.#chat.choices.jobs.length, {
        includeUsage: this.#body.stream_options?.include_usage === true,
        readsOpenAi: this.#readsOpenAi,
      });
      return (index, event) => writer.chunksOf(index, event);
    }, proof);
  }

  frozen(input: FrozenInput): Promise<FrozenAnswer> {
    const { choices, caller } = this.#chat;
    return completeFrozen(this.#ports, choices, { ...input, body: this.#body, caller });
  }

  explained(): Promise<DryRun> {
    return dryRun(this.#ports.engine, this.#chat);
  }

  #streamHead() {
    // The time alone would name all streams of a second alike.
    const entropy = randomBytes(6).toString('hex');
    return this.#chat.head({
      object: 'chat.completion.chunk' as const,
      idOf: (created) => `chatcmpl-svc-${created}${entropy}`,
    });
  }
}
