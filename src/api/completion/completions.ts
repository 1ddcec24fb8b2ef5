/** POST /v1/completions: plain text in, plain text out, no template. */
import { fail } from '../../lib/errors/svc-error.ts';
import { CompletionRequest, type CompletionResponse } from '../../wire/inference/completions.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import { answerHead } from '../generation/answer-head.ts';
import { runChoices } from '../generation/choices.ts';
import { wireFinishReason } from '../generation/finish-reason.ts';
import {
  checkChoices,
  checkIgnored,
  type JobShape,
  type Prepared,
  prepareGeneration,
} from '../generation/generation.ts';
import { ignoredHeader, unknownFields } from '../generation/parameters.ts';
import type { RequestFacts, Service } from '../service.ts';
import type { StreamItem } from '../generation/stream-item.ts';
import { wireTimings, wireUsage } from '../generation/usage.ts';

type Done = Extract<JobEvent, { type: 'done' }>;

export interface PreparedCompletion extends Prepared {
  readonly includeUsage: boolean;
  readonly ignoredHeader: string | null;
}

export async function prepareCompletion(
  service: Service,
  body: CompletionRequest,
  request: RequestFacts,
): Promise<PreparedCompletion> {
  const model = await service.registry.resolve(body.model, 'chat');
  const text = Array.isArray(body.prompt) ? (body.prompt[0] ?? '') : body.prompt;
  if (text === '') {
    throw fail('invalid_request', {
      message: 'prompt must not be empty; send the text to continue.',
      param: 'prompt',
    });
  }
  const shape: JobShape = {
    prompt: { kind: 'text', text: text.toWellFormed() },
    tools: [],
    toolChoice: { mode: 'none' },
    format: body.grammar ? { kind: 'grammar', gbnf: body.grammar } : { kind: 'text' },
    reasoning: {},
    topLogprobs: null,
  };
  const prepared = prepareGeneration(service, model, body, shape, request);
  const ignored = [...prepared.ignored, ...unknownFields(body, CompletionRequest.properties)];
  checkIgnored(service, ignored);
  checkChoices(service, prepared);
  return {
    ...prepared,
    includeUsage: body.stream_options?.include_usage === true,
    ignoredHeader: ignoredHeader(ignored),
  };
}

export interface CompletionAnswer {
  readonly body: CompletionResponse;
  readonly numCtx: number;
}

export async function completeText(
  service: Service,
  prepared: PreparedCompletion,
  request: RequestFacts,
): Promise<CompletionAnswer> {
  const texts: string[] = prepared.generation.jobs.map(() => '');
  const done: Done[] = [];
  let numCtx = 0;
  for await (const { index, event } of runChoices(service, prepared.generation, request.signal)) {
    if (event.type === 'text') texts[index] += event.text;
    if (event.type === 'started') numCtx = event.numCtx;
    if (event.type === 'done') done[index] = event;
  }
  const first = done[0];
  if (!first) throw new Error('a text completion ended without a done event');
  return {
    numCtx,
    body: {
      ...(await head(service, prepared)),
      choices: texts.map((text, index) => choice(index, text, done[index] ?? first, false)),
      usage: wireUsage(done.map((event) => event.usage)),
      timings: wireTimings(first.usage, first.timings),
    },
  };
}

/** Chunks have the same shape as the whole answer, as OpenAI's text completion streams. */
export async function* streamText(
  service: Service,
  prepared: PreparedCompletion,
  request: RequestFacts,
): AsyncGenerator<StreamItem, void, void> {
  const common = await head(service, prepared);
  const done: Done[] = [];
  for await (const { index, event } of runChoices(service, prepared.generation, request.signal)) {
    if (event.type === 'queued') yield { comment: `queued ${event.position}: ${event.reason}` };
    if (event.type === 'started') yield { started: { numCtx: event.numCtx } };
    if (event.type === 'text') {
      yield {
        chunk: { ...common, choices: [{ index, text: event.text, finish_reason: null, logprobs: null }] },
      };
    }
    if (event.type !== 'done') continue;
    done.push(event);
    const last = done.length === prepared.generation.jobs.length;
    const usage = last && prepared.includeUsage ? { usage: wireUsage(done.map((each) => each.usage)) } : {};
    yield { chunk: { ...common, choices: [choice(index, '', event, true)], ...usage } };
  }
}

function choice(index: number, text: string, done: Done, stream: boolean) {
  // The shape is OpenAI's own, so its words for the finish reason always apply here.
  return {
    index,
    text,
    finish_reason: wireFinishReason(done.finishReason, stream, true),
    svc_finish_reason: done.finishReason,
    logprobs: null,
  };
}

function head(service: Service, { model, generation }: Prepared) {
  const entropy = generation.jobs[0]?.jobId.slice(-8) ?? '';
  return answerHead(service, model, 'text_completion', (created) => `cmpl-svc-${created}-${entropy}`);
}
