/** Completions and gaps in llama-server's own words, over the use case of text completion. */
import { refusal } from '../../../lib/errors/refusal.ts';
import type { Prompt } from '../../../contract/job.ts';
import type { DoneEvent, JobEvent, SampledToken } from '../../../contract/job-event.ts';
import type { SentPrompt, SentPrompts } from '../../../wire/inference/completions.ts';
import {
  InfillRequest,
  type NativeAnswer,
  NativeCompletionRequest,
  type NativePiece,
  type PromptObject,
} from '../../../wire/llama-server.ts';
import type { Caller } from '../../caller.ts';
import type { RequestNotes } from '../../chat/request-notes.ts';
import {
  type CompletionPlan,
  type CompletionPorts,
  planCompletion,
  runCompletion,
} from '../../completion/plan.ts';
import { readPrompts } from '../../completion/prompts.ts';
import { unknownFields } from '../../generation/parameters.ts';
import { type StreamItem, streamItems } from '../../generation/stream-item.ts';
import { wireProgress } from '../../generation/usage.ts';
import { textAt } from '../fields.ts';
import { idsOf, nativeAnswer, probabilities, type Said, withFields } from './native-answer.ts';

type Shared = Omit<NativeCompletionRequest, 'prompt'>;

export function acceptCompletion(
  ports: CompletionPorts,
  body: NativeCompletionRequest,
  caller: Caller,
): Promise<AcceptedNative> {
  const prompts = readPrompts({ prompt: textsOf(body.prompt), parse_special: body.parse_special ?? true });
  const unknown = unknownFields(body, NativeCompletionRequest.properties);
  return accept(ports, { body, prompts, unknown }, caller);
}

export function acceptInfill(
  ports: CompletionPorts,
  body: InfillRequest,
  caller: Caller,
): Promise<AcceptedNative> {
  const files = (body.input_extra ?? []).map(({ filename, text }) => ({
    name: (filename ?? 'tmp').toWellFormed(),
    text: text.toWellFormed(),
  }));
  const prompt: Prompt = {
    kind: 'text',
    text: (body.input_prefix + (body.prompt ?? '')).toWellFormed(),
    suffix: body.input_suffix.toWellFormed(),
    ...(files.length === 0 ? {} : { files }),
  };
  return accept(
    ports,
    { body, prompts: [prompt], unknown: unknownFields(body, InfillRequest.properties) },
    caller,
  );
}

interface Ask {
  readonly body: Shared;
  readonly prompts: readonly Prompt[];
  readonly unknown: readonly string[];
}

async function accept(
  ports: CompletionPorts,
  { body, prompts, unknown }: Ask,
  caller: Caller,
): Promise<AcceptedNative> {
  const reported = body.n_probs ?? 0;
  const withoutAlternatives = body.return_tokens === true ? 0 : null;
  const ask = {
    model: body.model ?? 'default',
    prompts,
    options: body,
    topLogprobs: reported > 0 ? reported : withoutAlternatives,
    unknown,
  };
  return new AcceptedNative(ports, await planCompletion(ports, ask, caller), body, caller.signal);
}

/** The same prompts, objects of a text as that text. */
function textsOf(prompt: NativeCompletionRequest['prompt']): SentPrompts {
  const text = <Sent extends SentPrompt | number>(each: Sent | PromptObject, path: string): Sent | string => {
    // A number is a token of the only prompt.
    if (typeof each !== 'object' || Array.isArray(each)) return each;
    if (each.multimodal_data !== undefined && each.multimodal_data !== null)
      throw refusal(`${path}.multimodal_data`, 'is not possible here: this engine reads text only');
    return textAt(each.prompt_string, `${path}.prompt_string`);
  };
  if (!Array.isArray(prompt)) return text(prompt, 'prompt');
  return prompt.map((each, index) => text(each, `prompt[${index}]`));
}

/** A request that may run; it runs once, in one of these ways. */
export class AcceptedNative {
  readonly understood: RequestNotes;
  readonly #ports: CompletionPorts;
  readonly #plan: CompletionPlan;
  readonly #body: Shared;
  readonly #signal: AbortSignal;

  constructor(ports: CompletionPorts, plan: CompletionPlan, body: Shared, signal: AbortSignal) {
    this.understood = plan.understood;
    this.#ports = ports;
    this.#plan = plan;
    this.#body = body;
    this.#signal = signal;
  }

  /** One answer, or a list of them where there are several. */
  async whole(): Promise<{ readonly body: object; readonly numCtx: number }> {
    const said = this.#jobs.map(() => new AnswerCollector());
    const answers: NativeAnswer[] = [];
    let numCtx = 0;
    for await (const { index, event } of this.#run()) {
      const heard = said[index];
      if (heard === undefined) continue;
      if (event.type === 'started') numCtx = event.numCtx;
      if (event.type === 'text') heard.add(event);
      if (event.type === 'done') answers[index] = this.#answer(index, event, heard, heard);
    }
    const picked = answers.map((answer) => withFields(answer, this.#body.response_fields));
    const [first, ...others] = picked;
    if (first === undefined) throw new Error('a completion ended without a done event');
    return { numCtx, body: others.length === 0 ? first : picked };
  }

  stream(): AsyncGenerator<StreamItem, void, void> {
    return streamItems(async () => {
      const said = this.#jobs.map(() => new AnswerCollector());
      return {
        events: this.#run(),
        showsProgress: this.#body.return_progress === true,
        chunksOf: (index, event) => this.#pieces(index, event, said[index] ?? new AnswerCollector()),
      };
    });
  }

  #pieces(index: number, event: JobEvent, heard: AnswerCollector): object[] {
    const job = this.#jobs[index];
    if (job === undefined) return [];
    const piece = (fields: Partial<NativePiece>): NativePiece => ({
      index,
      content: '',
      tokens: [],
      stop: false,
      ...fields,
    });
    switch (event.type) {
      case 'progress':
        return [piece({ prompt_progress: wireProgress(event) })];
      case 'text': {
        const { text, tokens = [] } = event;
        heard.add(event);
        return [piece({ content: text, tokens: idsOf(tokens), ...probabilities(job, tokens) })];
      }
      case 'done':
        return [withFields(this.#answer(index, event, heard, NOTHING), this.#body.response_fields)];
      default:
        return [];
    }
  }

  #answer(index: number, done: DoneEvent, said: Said, shown: Said): NativeAnswer {
    const job = this.#jobs[index];
    if (job === undefined) throw new Error('an answer came for no job');
    return nativeAnswer({ index, job, model: this.#plan.choices.model.id, done }, said, shown);
  }

  get #jobs() {
    return this.#plan.choices.jobs;
  }

  #run() {
    return runCompletion(this.#ports, this.#plan, this.#signal);
  }
}

const NOTHING: Said = { text: '', tokens: [] };

class AnswerCollector implements Said {
  text = '';
  readonly tokens: SampledToken[] = [];

  add({ text, tokens = [] }: Extract<JobEvent, { type: 'text' }>): void {
    this.text += text;
    for (const token of tokens) this.tokens.push(token);
  }
}
