/** api/completion owns POST /v1/completions: plain text in, plain text out. It knows no template and no tool. */
import { CompletionRequest, type CompletionResponse } from '../../wire/inference/completions.ts';
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
import { readScoredPrompt } from '../generation/prompt-scores.ts';
import { type StreamItem, streamItems } from '../generation/stream-item.ts';
import { wireProgress, wireTimings, wireUsage } from '../generation/usage.ts';
import { ChoiceText, type Reported, type TextPiece } from './choice-text.ts';
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
    ...readScoredPrompt(body),
    unknown: unknownFields(body, CompletionRequest.properties),
  };
  const plan = await planCompletion(ports, ask, caller);
  const reported = plan.choices.jobs.map(({ prompt }) => reportedOf(body, prompt));
  return new AcceptedCompletion(ports, plan, { body, reported, signal: caller.signal });
}

/** What an answer begins with, and what it tells of tokens. */
export function reportedOf(
  { echo, logprobs = null, prompt_logprobs: promptLogprobs = null }: CompletionRequest,
  prompt: Prompt,
): Reported {
  const spelled = echo === true ? null : '';
  return {
    opening: echo === true && prompt.kind === 'text' ? prompt.text : spelled,
    logprobs,
    echoesTokens: echo === true,
    promptLogprobs,
  };
}

interface Asked {
  readonly body: CompletionRequest;
  readonly reported: readonly Reported[];
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
    const collected = await collectCompletion(this.#asked.reported, events);
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
      const { reported, body } = this.#asked;
      const { perPrompt, choices } = this.#plan;
      const includeUsage = body.stream_options?.include_usage === true;
      const proved = this.#proved;
      const kept: ChoiceEvent[] = [];
      const said = reported.map((each) => new ChoiceText(each));
      const done: DoneEvent[] = [];
      let open = choices.jobs.length;
      const chunk = (index: number, { text, logprobs }: TextPiece) => ({
        ...head,
        choices: [{ index, text, finish_reason: null, logprobs }],
      });
      const piecesOf = (piece: TextPiece | undefined): readonly TextPiece[] =>
        piece === undefined || (piece.text === '' && piece.logprobs === null) ? [] : [piece];
      const chunksOf = (index: number, event: JobEvent): object[] => {
        if (proved !== null) kept.push({ index, event });
        const choice = said[index];
        if (event.type === 'started') {
          return piecesOf({ text: reported[index]?.opening ?? '', logprobs: null }).map((piece) =>
            chunk(index, piece),
          );
        }
        if (event.type === 'progress')
          return [{ ...chunk(index, { text: '', logprobs: null }), prompt_progress: wireProgress(event) }];
        if (event.type === 'prompt_tokens')
          return piecesOf(choice?.addPrompt(event)).map((piece) => chunk(index, piece));
        if (event.type === 'text')
          return [chunk(index, choice?.add(event) ?? { text: event.text, logprobs: null })];
        if (event.type !== 'done') return [];
        done[index] = event;
        open -= 1;
        const timings = wireTimings(event);
        const end = wireChoice(index, NOTHING_SAID, event, true);
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
  reported: readonly Reported[],
  events: ChoiceEvents,
): Promise<CollectedCompletion> {
  const said = reported.map((each) => new ChoiceText(each));
  const ended: DoneEvent[] = [];
  let numCtx = 0;
  for await (const { index, event } of events) {
    if (event.type === 'text') said[index]?.add(event);
    if (event.type === 'prompt_tokens') said[index]?.addPrompt(event);
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
    choices: said.map((choice, index) => wireChoice(index, choice, done[index] ?? done[0], false)),
    usage: usageOfPrompts(done, perPrompt),
  };
}

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

const NOTHING_SAID: Pick<ChoiceText, 'text' | 'logprobs' | 'promptLogprobs'> = {
  text: '',
  logprobs: null,
  promptLogprobs: {},
};

function wireChoice(
  index: number,
  { text, logprobs, promptLogprobs }: typeof NOTHING_SAID,
  done: DoneEvent,
  stream: boolean,
) {
  return {
    index,
    text,
    logprobs,
    ...promptLogprobs,
    // The shape is OpenAI's own, so its words for the finish reason always apply here.
    finish_reason: wireFinishReason(done.finishReason, stream, true),
    svc_finish_reason: trueFinishReason(done),
  };
}
