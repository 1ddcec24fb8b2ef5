/** api/completion owns POST /v1/completions: plain text in, plain text out. It knows no template, tool or evidence. */
import {
  type CompletionLogprobs,
  CompletionRequest,
  type CompletionResponse,
} from '../../wire/inference/completions.ts';
import type { Usage } from '../../wire/inference/generation.ts';
import type { DoneEvent, JobEvent } from '../../contract/job-event.ts';
import type { Caller } from '../caller.ts';
import type { Understood } from '../chat/understood.ts';
import { answerHead } from '../generation/answer-head.ts';
import { trueFinishReason, wireFinishReason } from '../generation/finish-reason.ts';
import { unknownFields } from '../generation/parameters.ts';
import { type StreamItem, streamItems } from '../generation/stream-item.ts';
import { wireProgress, wireTimings, wireUsage } from '../generation/usage.ts';
import { type CompletionPlan, type CompletionPorts, planCompletion, runCompletion } from './plan.ts';
import { readPrompts } from './prompts.ts';

export interface CompletionAnswer {
  readonly body: CompletionResponse;
  readonly numCtx: number;
}

export async function acceptCompletion(
  ports: CompletionPorts,
  body: CompletionRequest,
  caller: Caller,
): Promise<AcceptedCompletion> {
  const prompts = readPrompts(body);
  const ask = {
    model: body.model,
    prompts,
    options: body,
    topLogprobs: body.logprobs ?? null,
    unknown: unknownFields(body, CompletionRequest.properties),
  };
  const plan = await planCompletion(ports, ask, caller);
  const openings = plan.choices.jobs.map(({ prompt }) =>
    body.echo === true && prompt.kind === 'text' ? prompt.text : '',
  );
  const includeUsage = body.stream_options?.include_usage === true;
  return new AcceptedCompletion(ports, plan, { includeUsage, openings, signal: caller.signal });
}

interface Asked {
  /** What each answer begins with. */
  readonly openings: readonly string[];
  readonly includeUsage: boolean;
  readonly signal: AbortSignal;
}

/** A request that may run; it runs once, in one of these ways. */
export class AcceptedCompletion {
  readonly understood: Understood;
  readonly #ports: CompletionPorts;
  readonly #plan: CompletionPlan;
  readonly #asked: Asked;

  constructor(ports: CompletionPorts, plan: CompletionPlan, asked: Asked) {
    this.#ports = ports;
    this.#plan = plan;
    this.#asked = asked;
    this.understood = plan.understood;
  }

  async whole(): Promise<CompletionAnswer> {
    const said = this.#asked.openings.map((text) => new Said(text));
    const done: DoneEvent[] = [];
    let numCtx = 0;
    for await (const { index, event } of this.#run()) {
      if (event.type === 'text') said[index]?.add(event);
      if (event.type === 'started') numCtx = event.numCtx;
      if (event.type === 'done') done[index] = event;
    }
    const [first] = done;
    if (!first) throw new Error('a text completion ended without a done event');
    return {
      numCtx,
      body: {
        ...(await this.#head()),
        choices: said.map(({ text, logprobs }, index) =>
          wireChoice({ index, text, logprobs }, done[index] ?? first, false),
        ),
        usage: usageOfPrompts(done, this.#plan.perPrompt),
        timings: wireTimings(first),
      },
    };
  }

  /** Chunks have the same shape as the whole answer, as OpenAI's text completion streams. */
  stream(): AsyncGenerator<StreamItem, void, void> {
    return streamItems(async () => {
      const head = await this.#head();
      const { openings, includeUsage } = this.#asked;
      const { perPrompt, choices } = this.#plan;
      const said = openings.map((text) => new Said(text));
      const done: DoneEvent[] = [];
      let open = choices.jobs.length;
      const chunk = (index: number, text: string, logprobs: CompletionLogprobs | null) => ({
        ...head,
        choices: [{ index, text, finish_reason: null, logprobs }],
      });
      const chunksOf = (index: number, event: JobEvent): object[] => {
        const opening = openings[index] ?? '';
        if (event.type === 'started') return opening === '' ? [] : [chunk(index, opening, null)];
        if (event.type === 'progress')
          return [{ ...chunk(index, '', null), prompt_progress: wireProgress(event) }];
        if (event.type === 'text') return [chunk(index, event.text, said[index]?.add(event) ?? null)];
        if (event.type !== 'done') return [];
        done[index] = event;
        open -= 1;
        const timings = wireTimings(event);
        const end = wireChoice({ index, text: '', logprobs: null }, event, true);
        const last = { ...head, choices: [end], timings };
        if (open > 0 || !includeUsage) return [last];
        return [last, { ...head, choices: [], usage: usageOfPrompts(done, perPrompt), timings }];
      };
      return { events: this.#run(), chunksOf };
    });
  }

  #run() {
    return runCompletion(this.#ports, this.#plan, this.#asked.signal);
  }

  #head() {
    const { jobs, model } = this.#plan.choices;
    const entropy = jobs[0]?.jobId.slice(-8) ?? '';
    return answerHead(this.#ports, model, {
      object: 'text_completion' as const,
      idOf: (created) => `cmpl-svc-${created}-${entropy}`,
    });
  }
}

/** What one answer said so far. */
class Said {
  #text: string;
  #offset: number;
  #logprobs: CompletionLogprobs | null = null;

  constructor(opening: string) {
    this.#text = opening;
    this.#offset = charactersOf(opening);
  }

  get text(): string {
    return this.#text;
  }

  get logprobs(): CompletionLogprobs | null {
    return this.#logprobs;
  }

  /** The log probabilities of this piece, where any are reported. */
  add({ text, tokens }: Extract<JobEvent, { type: 'text' }>): CompletionLogprobs | null {
    this.#text += text;
    if (tokens === undefined) return null;
    const piece: CompletionLogprobs = { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
    this.#logprobs ??= { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
    for (const { chosen, top } of tokens) {
      const alternatives = Object.fromEntries(top.map((each) => [each.text, each.logprob]));
      for (const list of [piece, this.#logprobs]) {
        list.tokens.push(chosen.text);
        list.token_logprobs.push(chosen.logprob);
        list.top_logprobs.push(alternatives);
        list.text_offset.push(this.#offset);
      }
      this.#offset += charactersOf(chosen.text);
    }
    return piece;
  }
}

const charactersOf = (text: string): number => Array.from(text).length;

/** Each prompt counts once, and every answer to it. */
function usageOfPrompts(done: readonly DoneEvent[], perPrompt: number): Usage {
  const groups = Array.from({ length: Math.ceil(done.length / perPrompt) }, (_, index) =>
    wireUsage(done.slice(index * perPrompt, (index + 1) * perPrompt).map((event) => event.usage)),
  );
  const sum = (pick: (usage: Usage) => number | undefined): number =>
    groups.reduce((total, usage) => total + (pick(usage) ?? 0), 0);
  return {
    prompt_tokens: sum((usage) => usage.prompt_tokens),
    completion_tokens: sum((usage) => usage.completion_tokens),
    total_tokens: sum((usage) => usage.total_tokens),
    prompt_tokens_details: { cached_tokens: sum((usage) => usage.prompt_tokens_details?.cached_tokens) },
    completion_tokens_details: {
      reasoning_tokens: sum((usage) => usage.completion_tokens_details?.reasoning_tokens),
    },
  };
}

function wireChoice(
  said: { readonly index: number; readonly text: string; readonly logprobs: CompletionLogprobs | null },
  done: DoneEvent,
  stream: boolean,
) {
  return {
    ...said,
    // The shape is OpenAI's own, so its words for the finish reason always apply here.
    finish_reason: wireFinishReason(done.finishReason, stream, true),
    svc_finish_reason: trueFinishReason(done),
  };
}
