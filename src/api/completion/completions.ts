/** api/completion owns POST /v1/completions: plain text in, plain text out. It knows no template and no tool. */
import {
  type CompletionLogprobs,
  CompletionRequest,
  type CompletionResponse,
} from '../../wire/inference/completions.ts';
import type { Usage } from '../../wire/inference/generation.ts';
import type { DoneEvent, JobEvent } from '../../contract/job-event.ts';
import type { Prompt } from '../../contract/job.ts';
import type { EvidenceIssuer } from '../../trust/evidence/issuer.ts';
import { COMPLETIONS_ROUTE } from '../../trust/evidence/statement.ts';
import type { Caller } from '../caller.ts';
import type { RequestNotes } from '../chat/request-notes.ts';
import { answerHead } from '../generation/answer-head.ts';
import { trueFinishReason, wireFinishReason } from '../generation/finish-reason.ts';
import type { ChoiceEvent } from '../generation/choices.ts';
import {
  type FrozenInput,
  type OpenedFrozen,
  openFrozen,
  recordMembers,
  type SignedBody,
  signedBody,
} from '../generation/frozen.ts';
import { unknownFields } from '../generation/parameters.ts';
import { type StreamItem, streamItems } from '../generation/stream-item.ts';
import { wireProgress, wireTimings, wireUsage } from '../generation/usage.ts';
import { type CompletionPlan, type CompletionPorts, planCompletion, runCompletion } from './plan.ts';
import { readPrompts } from './prompts.ts';

export interface CompletionAnswer {
  readonly body: CompletionResponse;
  readonly numCtx: number;
}

export interface ProvedCompletionPorts extends CompletionPorts {
  /** Null where no records are signed. */
  readonly evidence: EvidenceIssuer | null;
}

export async function acceptCompletion(
  ports: ProvedCompletionPorts,
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
  const openings = plan.choices.jobs.map(({ prompt }) => openingOf(body, prompt));
  return new AcceptedCompletion(ports, plan, { body, openings, signal: caller.signal });
}

/** What an answer begins with. */
export const openingOf = ({ echo }: Pick<CompletionRequest, 'echo'>, prompt: Prompt): string =>
  echo === true && prompt.kind === 'text' ? prompt.text : '';

interface Asked {
  readonly body: CompletionRequest;
  readonly openings: readonly string[];
  readonly signal: AbortSignal;
}

/** A request that may run; it runs once, in one of these ways. */
export class AcceptedCompletion {
  readonly understood: RequestNotes;
  readonly #ports: ProvedCompletionPorts;
  readonly #plan: CompletionPlan;
  readonly #asked: Asked;
  #proved: OpenedFrozen | null = null;

  constructor(ports: ProvedCompletionPorts, plan: CompletionPlan, asked: Asked) {
    this.#ports = ports;
    this.#plan = plan;
    this.#asked = asked;
    this.understood = plan.understood;
  }

  async whole(): Promise<CompletionAnswer> {
    return this.#whole(this.#run(this.#plan));
  }

  /** The answer with its record. */
  async frozen(input: FrozenInput): Promise<SignedBody & { readonly numCtx: number }> {
    const { pinned, sign } = await this.#open(input);
    const { body, done, numCtx } = await this.#whole(this.#run({ ...this.#plan, choices: pinned }));
    return { ...signedBody(body, await sign(body, done)), numCtx };
  }

  /** The stream will end with a record of its answer; to be called before it runs. */
  async prove(input: FrozenInput): Promise<void> {
    this.#proved = await this.#open(input);
  }

  #open(input: FrozenInput): Promise<OpenedFrozen> {
    const { body } = this.#asked;
    return openFrozen(this.#ports.evidence, this.#plan.choices, { ...input, body, route: COMPLETIONS_ROUTE });
  }

  async #whole(events: ChoiceEvents) {
    const collected = await collectCompletion(this.#asked.openings, events);
    const { numCtx, done } = collected;
    const timings = wireTimings(done[0]);
    const body = {
      ...(await this.#head()),
      ...wireCompletion(collected, this.#plan.perPrompt),
      timings,
    };
    return { numCtx, done: done[0], body };
  }

  /** Chunks have the same shape as the whole answer, as OpenAI's text completion streams. */
  stream(): AsyncGenerator<StreamItem, void, void> {
    return streamItems(async () => {
      const head = await this.#head();
      const { openings, body } = this.#asked;
      const { perPrompt, choices } = this.#plan;
      const includeUsage = body.stream_options?.include_usage === true;
      const proved = this.#proved;
      const kept: ChoiceEvent[] = [];
      const said = openings.map((text) => new ChoiceText(text));
      const done: DoneEvent[] = [];
      let open = choices.jobs.length;
      const chunk = (index: number, text: string, logprobs: CompletionLogprobs | null) => ({
        ...head,
        choices: [{ index, text, finish_reason: null, logprobs }],
      });
      const chunksOf = (index: number, event: JobEvent): object[] => {
        if (proved !== null) kept.push({ index, event });
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
      const plan = proved === null ? this.#plan : { ...this.#plan, choices: proved.pinned };
      const showsProgress = choices.showsProgress === true;
      if (proved === null) return { events: this.#run(plan), chunksOf, showsProgress };
      const atEnd = async (): Promise<object[]> => {
        const whole = await this.#whole(kept);
        const record = recordMembers(whole.body, await proved.sign(whole.body, whole.done));
        return [{ ...head, choices: [], ...record }];
      };
      return { events: this.#run(plan), chunksOf, showsProgress, atEnd };
    });
  }

  #run(plan: CompletionPlan): AsyncIterable<ChoiceEvent> {
    return runCompletion(this.#ports, plan, this.#asked.signal);
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

type ChoiceEvents = AsyncIterable<ChoiceEvent> | Iterable<ChoiceEvent>;

interface CollectedCompletion {
  readonly said: readonly ChoiceText[];
  readonly done: readonly [DoneEvent, ...DoneEvent[]];
  readonly numCtx: number;
}

export async function collectCompletion(
  openings: readonly string[],
  events: ChoiceEvents,
): Promise<CollectedCompletion> {
  const said = openings.map((text) => new ChoiceText(text));
  const ended: DoneEvent[] = [];
  let numCtx = 0;
  for await (const { index, event } of events) {
    if (event.type === 'text') said[index]?.add(event);
    if (event.type === 'started') numCtx = event.numCtx;
    if (event.type === 'done') ended[index] = event;
  }
  const [first, ...others] = ended;
  if (!first) throw new Error('a text completion ended without a done event');
  return { said, done: [first, ...others], numCtx };
}

/** The part of the body that the model decides. */
export function wireCompletion(
  { said, done }: CollectedCompletion,
  perPrompt: number,
): Pick<CompletionResponse, 'choices'> & { readonly usage: Usage } {
  return {
    choices: said.map(({ text, logprobs }, index) =>
      wireChoice({ index, text, logprobs }, done[index] ?? done[0], false),
    ),
    usage: usageOfPrompts(done, perPrompt),
  };
}

/** What one answer said so far. */
class ChoiceText {
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
