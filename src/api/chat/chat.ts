/**
 * api/chat owns POST /v1/chat/completions: what is refused before anything runs, and the accepted request as a whole
 * answer, a stream, a signed answer or a dry run. It knows nothing of sockets, headers or files.
 */
import { randomBytes } from 'node:crypto';
import type { EvidenceIssuer } from '../../trust/evidence/issuer.ts';
import type { Engine } from '../../engine/ports.ts';
import type { DryRun } from '../../wire/inference/dry-run.ts';
import { ChatRequest } from '../../wire/inference/chat.ts';
import type { Caller } from '../caller.ts';
import { answerHead } from '../generation/answer-head.ts';
import { checkSlots, type Choices, planChoices, runChoices } from '../generation/choices.ts';
import { checkIgnored, hasForeignField, resolveMaxTokens, unknownFields } from '../generation/parameters.ts';
import { type StreamItem, streamItems } from '../generation/stream-item.ts';
import { readContent } from '../intake/chat-content.ts';
import { idleFields, speaksOpenAi } from '../intake/chat-fields.ts';
import type { Models } from '../models/served-model.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { dryRun } from './dry-run.ts';
import { completeFrozen, type FrozenAnswer, type FrozenInput } from './frozen.ts';
import { type ChatAnswer, completeChat, type WholeAnswerPorts } from './whole-answer.ts';

export interface ChatPorts extends WholeAnswerPorts {
  readonly models: Pick<Models, 'resolve'>;
  readonly engine: Pick<Engine, 'submit' | 'plan'>;
  /** Null where no records are signed. */
  readonly evidence: EvidenceIssuer | null;
  readonly strictParams: boolean;
}

/** Resolves the model and plans the jobs; everything that can be refused without the engine is refused here. */
export type AcceptChat = (body: ChatRequest, caller: Caller) => Promise<AcceptedChat>;

export const acceptChat =
  (ports: ChatPorts): AcceptChat =>
  async (body, caller) => {
    const model = await ports.models.resolve(body.model, 'chat');
    const choices = planChoices(body, readContent(body), { model, caller });
    const ignored = [
      ...resolveMaxTokens(body).overruled,
      ...idleFields(body, model.reasoning),
      ...unknownFields(body, ChatRequest.properties),
    ];
    checkIgnored(ports.strictParams, ignored);
    checkSlots(ports.engine, choices);
    return new AcceptedChat(ports, choices, { body, caller, ignored });
  };

/** A request that may run; it runs once, in one of these ways. */
export class AcceptedChat {
  /** Fields that have no effect. */
  readonly ignored: readonly string[];
  readonly #ports: ChatPorts;
  readonly #choices: Choices;
  readonly #body: ChatRequest;
  readonly #caller: Caller;

  constructor(
    ports: ChatPorts,
    choices: Choices,
    asked: { readonly body: ChatRequest; readonly caller: Caller; readonly ignored: readonly string[] },
  ) {
    this.#ports = ports;
    this.#choices = choices;
    this.#body = asked.body;
    this.#caller = asked.caller;
    this.ignored = asked.ignored;
  }

  whole(): Promise<ChatAnswer> {
    return completeChat(this.#ports, this.#choices, this.#caller.signal);
  }

  stream(): AsyncGenerator<StreamItem, void, void> {
    return streamItems(async () => {
      const writer = new ChunkWriter(await this.#streamHead(), this.#choices.jobs, {
        includeUsage: this.#body.stream_options?.include_usage === true,
        openAiDialect: hasForeignField(this.#body) || speaksOpenAi(this.#body),
      });
      const events = runChoices(this.#ports.engine, this.#choices, this.#caller.signal);
      return { events, chunksOf: (index, event) => writer.chunksOf(index, event) };
    });
  }

  frozen(input: FrozenInput): Promise<FrozenAnswer> {
    return completeFrozen(this.#ports, this.#choices, { ...input, body: this.#body, caller: this.#caller });
  }

  explained(): Promise<DryRun> {
    return dryRun(this.#ports.engine, this.#choices, { ignored: this.ignored, caller: this.#caller });
  }

  #streamHead() {
    // The time alone would name all streams of a second alike.
    const entropy = randomBytes(6).toString('hex');
    return answerHead(this.#ports, this.#choices.model, {
      object: 'chat.completion.chunk' as const,
      idOf: (created) => `chatcmpl-svc-${created}${entropy}`,
    });
  }
}
