/** server/api/completion owns POST /v1/completions: plain text in, plain text out. It knows no template and no tool. */
import { CompletionRequest, type CompletionResponse } from '../../../wire/inference/completions.ts';
import type { Usage } from '../../../wire/inference/generation.ts';
import type { DoneEvent } from '../../../contract/job-event.ts';
import type { Prompt } from '../../../contract/job.ts';
import type { EvidenceIssuer } from '../../../trust/evidence/issuer.ts';
import { COMPLETIONS_ROUTE } from '../../../trust/evidence/statement.ts';
import type { Caller } from '../caller.ts';
import type { AnswerEvent } from '../chat/choice-guard.ts';
import { AcceptedRequest, type AnswerDialect } from '../chat/accepted-request.ts';
import { type Answer, type Collected, answerText } from '../chat/collected.ts';
import {
  answerHead,
  trueFinishReason,
  wireFinishReason,
  wireProgress,
  wireTimings,
  wireUsage,
} from '../generation/usage.ts';
import { unknownFields } from '../generation/parameters.ts';
import { readScoredPrompt } from '../generation/prompt-scores.ts';
import { lazy } from '../../../lib/base/memoize-by-object.ts';
import { ChoiceText, type Reported, type TextPiece } from './choice-text.ts';
import { type CompletionPlan, type CompletionPorts, planCompletion } from './plan.ts';
import { readPrompts } from './prompts.ts';

export interface ProvedCompletionPorts extends CompletionPorts {
  readonly evidence: EvidenceIssuer | null;
}

export async function acceptCompletion(
  ports: ProvedCompletionPorts,
  body: CompletionRequest,
  caller: Caller,
): Promise<AcceptedRequest> {
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
  return new AcceptedRequest(ports.engine, plan, answers(ports, plan, body));
}

export function reportedParts(
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

function answers(
  ports: ProvedCompletionPorts,
  { choices: { jobs, model }, perPrompt }: CompletionPlan,
  body: CompletionRequest,
): AnswerDialect {
  const reported = jobs.map(({ prompt }) => reportedParts(body, prompt));
  const entropy = jobs[0]?.jobId.slice(-8) ?? '';
  const head = () =>
    answerHead(ports, model, {
      object: 'text_completion' as const,
      makeId: (created) => `cmpl-svc-${created}-${entropy}`,
    });
  const whole = async (collected: Collected) => ({
    ...(await head()),
    ...wireCompletion(reported, collected, perPrompt),
    timings: wireTimings(collected.answers[0].done),
  });
  const streamHead = lazy(head);
  return {
    whole,
    writer: async () => {
      const includeUsage = body.stream_options?.include_usage === true;
      const writer = new ChunkWriter(await streamHead(), { reported, perPrompt, includeUsage });
      return (index, event) => writer.write(index, event);
    },
    record: { evidence: ports.evidence, body, route: COMPLETIONS_ROUTE, whole, head: streamHead },
  };
}

interface ChunkOptions {
  readonly reported: readonly Reported[];
  readonly perPrompt: number;
  readonly includeUsage: boolean;
}

class ChunkWriter {
  readonly #head: object;
  readonly #options: ChunkOptions;
  readonly #said: readonly ChoiceText[];
  readonly #done: DoneEvent[] = [];
  #open: number;

  constructor(head: object, options: ChunkOptions) {
    this.#head = head;
    this.#options = options;
    this.#said = options.reported.map((each) => new ChoiceText(each));
    this.#open = options.reported.length;
  }

  write(index: number, event: AnswerEvent): object[] {
    const choice = this.#said[index];
    switch (event.type) {
      case 'started': {
        const text = this.#options.reported[index]?.opening ?? '';
        return this.#unlessEmpty(index, { text, logprobs: null });
      }
      case 'progress':
        return [
          { ...this.#chunk(index, { text: '', logprobs: null }), prompt_progress: wireProgress(event) },
        ];
      case 'prompt_tokens':
        return this.#unlessEmpty(index, choice?.addPrompt(event));
      case 'text':
        return [this.#chunk(index, choice?.add(event) ?? { text: event.text, logprobs: null })];
      case 'done':
        return this.#last(index, event);
      default:
        return [];
    }
  }

  #unlessEmpty(index: number, piece: TextPiece | undefined): object[] {
    const isEmpty = piece === undefined || (piece.text === '' && piece.logprobs === null);
    return isEmpty ? [] : [this.#chunk(index, piece)];
  }

  #chunk(index: number, { text, logprobs }: TextPiece) {
    return { ...this.#head, choices: [{ index, text, finish_reason: null, logprobs }] };
  }

  #last(index: number, event: DoneEvent): object[] {
    const { perPrompt, includeUsage } = this.#options;
    this.#done[index] = event;
    this.#open -= 1;
    const timings = wireTimings(event);
    const last = { ...this.#head, choices: [wireChoice(index, NOTHING_SAID, event, true)], timings };
    if (this.#open > 0 || !includeUsage) return [last];
    return [last, { ...this.#head, choices: [], usage: usageOfPrompts(this.#done, perPrompt), timings }];
  }
}

export function wireCompletion(
  reported: readonly Reported[],
  { answers: all }: Pick<Collected, 'answers'>,
  perPrompt: number,
): Pick<CompletionResponse, 'choices'> & { readonly usage: Usage } {
  return {
    choices: reported.flatMap((each, index) => {
      const answer = all[index];
      return answer === undefined ? [] : [wireChoice(index, choiceText(each, answer), answer.done, false)];
    }),
    usage: usageOfPrompts(
      all.map(({ done }) => done),
      perPrompt,
    ),
  };
}

function choiceText(reported: Reported, answer: Answer): ChoiceText {
  const said = new ChoiceText(reported);
  const { promptTokens, tokens } = answer;
  if (promptTokens.length > 0) said.addPrompt({ type: 'prompt_tokens', tokens: [...promptTokens] });
  const text = answerText(answer, 'text');
  said.add({ type: 'text', text, ...(tokens.length > 0 && { tokens: [...tokens] }) });
  return said;
}

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
    // The shape is OpenAI's own, so its finish reasons always apply here.
    finish_reason: wireFinishReason(done.finishReason, stream, true),
    svc_finish_reason: trueFinishReason(done),
  };
}
