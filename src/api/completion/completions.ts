/** api/completion owns POST /v1/completions: plain text in, plain text out. It knows no template, tool or evidence. */
import { fail } from '../../lib/errors/svc-error.ts';
import type { Engine } from '../../engine/ports.ts';
import { CompletionRequest, type CompletionResponse } from '../../wire/inference/completions.ts';
import type { DoneEvent, JobEvent } from '../../contract/job-event.ts';
import type { Caller } from '../caller.ts';
import { answerHead, type HeadPorts } from '../generation/answer-head.ts';
import { checkSlots, type Choices, type JobContent, planChoices, runChoices } from '../generation/choices.ts';
import { wireFinishReason } from '../generation/finish-reason.ts';
import { checkIgnored, resolveMaxTokens, unknownFields } from '../generation/parameters.ts';
import { type StreamItem, streamItems } from '../generation/stream-item.ts';
import { wireTimings, wireUsage } from '../generation/usage.ts';
import type { Models } from '../models/served-model.ts';

export interface CompletionPorts extends HeadPorts {
  readonly models: Pick<Models, 'resolve'>;
  readonly engine: Pick<Engine, 'submit' | 'plan'>;
  readonly strictParams: boolean;
}

export interface CompletionAnswer {
  readonly body: CompletionResponse;
  readonly numCtx: number;
}

/** Resolves the model and plans the jobs; everything that can be refused without the engine is refused here. */
export async function acceptCompletion(
  ports: CompletionPorts,
  body: CompletionRequest,
  caller: Caller,
): Promise<AcceptedCompletion> {
  const model = await ports.models.resolve(body.model, 'chat');
  const choices = planChoices(body, readText(body), { model, caller });
  const ignored = [...resolveMaxTokens(body).overruled, ...unknownFields(body, CompletionRequest.properties)];
  checkIgnored(ports.strictParams, ignored);
  checkSlots(ports.engine, choices);
  const includeUsage = body.stream_options?.include_usage === true;
  return new AcceptedCompletion(ports, choices, { includeUsage, ignored, signal: caller.signal });
}

function readText(body: CompletionRequest): JobContent {
  const text = Array.isArray(body.prompt) ? (body.prompt[0] ?? '') : body.prompt;
  if (text === '') {
    throw fail('invalid_request', {
      message: 'prompt must not be empty; send the text to continue.',
      param: 'prompt',
    });
  }
  return {
    prompt: { kind: 'text', text: text.toWellFormed() },
    tools: [],
    toolChoice: { mode: 'none' },
    format: body.grammar ? { kind: 'grammar', gbnf: body.grammar } : { kind: 'text' },
    reasoning: {},
    topLogprobs: null,
  };
}

interface Asked {
  readonly includeUsage: boolean;
  readonly ignored: readonly string[];
  readonly signal: AbortSignal;
}

/** A request that may run; it runs once, in one of these ways. */
export class AcceptedCompletion {
  /** Fields that have no effect. */
  readonly ignored: readonly string[];
  readonly #ports: CompletionPorts;
  readonly #choices: Choices;
  readonly #asked: Asked;

  constructor(ports: CompletionPorts, choices: Choices, asked: Asked) {
    this.#ports = ports;
    this.#choices = choices;
    this.#asked = asked;
    this.ignored = asked.ignored;
  }

  async whole(): Promise<CompletionAnswer> {
    const texts: string[] = this.#choices.jobs.map(() => '');
    const done: DoneEvent[] = [];
    let numCtx = 0;
    for await (const { index, event } of this.#run()) {
      if (event.type === 'text') texts[index] += event.text;
      if (event.type === 'started') numCtx = event.numCtx;
      if (event.type === 'done') done[index] = event;
    }
    const [first] = done;
    if (!first) throw new Error('a text completion ended without a done event');
    return {
      numCtx,
      body: {
        ...(await this.#head()),
        choices: texts.map((text, index) => wireChoice({ index, text }, done[index] ?? first, false)),
        usage: wireUsage(done.map((event) => event.usage)),
        timings: wireTimings(first.usage, first.timings),
      },
    };
  }

  /** Chunks have the same shape as the whole answer, as OpenAI's text completion streams. */
  stream(): AsyncGenerator<StreamItem, void, void> {
    return streamItems(async () => {
      const head = await this.#head();
      const done: DoneEvent[] = [];
      const chunksOf = (index: number, event: JobEvent): object[] => {
        if (event.type === 'text')
          return [{ ...head, choices: [{ index, text: event.text, finish_reason: null, logprobs: null }] }];
        if (event.type !== 'done') return [];
        done.push(event);
        const isLast = done.length === this.#choices.jobs.length;
        const timings = wireTimings(event.usage, event.timings);
        const last = { ...head, choices: [wireChoice({ index, text: '' }, event, true)], timings };
        if (!isLast || !this.#asked.includeUsage) return [last];
        return [last, { ...head, choices: [], usage: wireUsage(done.map((each) => each.usage)) }];
      };
      return { events: this.#run(), chunksOf };
    });
  }

  #run() {
    return runChoices(this.#ports.engine, this.#choices, this.#asked.signal);
  }

  #head() {
    const entropy = this.#choices.jobs[0]?.jobId.slice(-8) ?? '';
    return answerHead(this.#ports, this.#choices.model, {
      object: 'text_completion' as const,
      idOf: (created) => `cmpl-svc-${created}-${entropy}`,
    });
  }
}

function wireChoice(
  said: { readonly index: number; readonly text: string },
  { finishReason }: DoneEvent,
  stream: boolean,
) {
  return {
    ...said,
    // The shape is OpenAI's own, so its words for the finish reason always apply here.
    finish_reason: wireFinishReason(finishReason, stream, true),
    svc_finish_reason: finishReason,
    logprobs: null,
  };
}
