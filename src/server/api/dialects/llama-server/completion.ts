import { refusal } from '../../../../lib/errors/refusal.ts';
import type { Prompt } from '../../../../contract/job.ts';
import type { DoneEvent, SampledToken, TextEvent } from '../../../../contract/job-event.ts';
import type { SentPrompt, SentPrompts } from '../../../../wire/inference/completions.ts';
import {
  InfillRequest,
  type NativeAnswer,
  NativeCompletionRequest,
  type NativePiece,
  type PromptObject,
} from '../../../../wire/llama-server.ts';
import type { Caller } from '../../caller.ts';
import { AcceptedRequest, type AnswerDialect } from '../../chat/accepted-request.ts';
import { answerText } from '../../chat/collected.ts';
import { type CompletionPorts, planCompletion } from '../../completion/plan.ts';
import { readPrompts } from '../../completion/prompts.ts';
import { unknownFields } from '../../generation/parameters.ts';
import type { Choices } from '../../generation/choices.ts';
import { wireProgress } from '../../generation/usage.ts';
import { textAt } from '../fields.ts';
import { tokenIds, nativeAnswer, probabilities, type Said, withFields } from './native-answer.ts';

type Shared = Omit<NativeCompletionRequest, 'prompt'>;

export function acceptCompletion(
  ports: CompletionPorts,
  body: NativeCompletionRequest,
  caller: Caller,
): Promise<AcceptedRequest> {
  const prompts = readPrompts({
    prompt: unwrapPrompts(body.prompt),
    parse_special: body.parse_special ?? true,
  });
  const unknown = unknownFields(body, NativeCompletionRequest.properties);
  return accept(ports, { body, prompts, unknown }, caller);
}

export function acceptInfill(
  ports: CompletionPorts,
  body: InfillRequest,
  caller: Caller,
): Promise<AcceptedRequest> {
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
): Promise<AcceptedRequest> {
  const reported = body.n_probs ?? 0;
  const withoutAlternatives = body.return_tokens === true ? 0 : null;
  const ask = {
    model: body.model ?? 'default',
    prompts,
    options: body,
    topLogprobs: reported > 0 ? reported : withoutAlternatives,
    unknown,
  };
  const plan = await planCompletion(ports, ask, caller);
  return new AcceptedRequest(ports.engine, plan, answers(plan.choices, body));
}

function unwrapPrompts(prompt: NativeCompletionRequest['prompt']): SentPrompts {
  const text = <Sent extends SentPrompt | number>(each: Sent | PromptObject, path: string): Sent | string => {
    if (typeof each !== 'object' || Array.isArray(each)) return each;
    if (each.multimodal_data !== undefined && each.multimodal_data !== null)
      throw refusal(`${path}.multimodal_data`, 'is not possible here: this engine reads text only');
    return textAt(each.prompt_string, `${path}.prompt_string`);
  };
  if (!Array.isArray(prompt)) return text(prompt, 'prompt');
  return prompt.map((each, index) => text(each, `prompt[${index}]`));
}

function answers({ jobs, model }: Choices, body: Shared): AnswerDialect {
  const answer = (index: number, done: DoneEvent, said: Said, shown: Said): NativeAnswer => {
    const job = jobs[index];
    if (job === undefined) throw new Error('an answer came for no job');
    return nativeAnswer({ index, job, model: model.id, done }, said, shown);
  };
  return {
    whole: ({ answers: all }) => {
      const picked = all.map((each, index) => {
        const said = { text: answerText(each, 'text'), tokens: each.tokens };
        return withFields(answer(index, each.done, said, said), body.response_fields);
      });
      const [first, ...others] = picked;
      return first === undefined || others.length > 0 ? picked : first;
    },
    writer: () => {
      const said = jobs.map(() => new AnswerCollector());
      return (index, event) => {
        const job = jobs[index];
        const collector = said[index];
        if (job === undefined || collector === undefined) return [];
        switch (event.type) {
          case 'progress':
            return [{ ...EMPTY, index, prompt_progress: wireProgress(event) }];
          case 'text': {
            const { text, tokens = [] } = event;
            collector.add(event);
            return [
              { ...EMPTY, index, content: text, tokens: tokenIds(tokens), ...probabilities(job, tokens) },
            ];
          }
          case 'done':
            return [withFields(answer(index, event, collector, NOTHING), body.response_fields)];
          default:
            return [];
        }
      };
    },
  };
}

const EMPTY: NativePiece = { index: 0, content: '', tokens: [], stop: false };
const NOTHING: Said = { text: '', tokens: [] };

class AnswerCollector implements Said {
  text = '';
  readonly tokens: SampledToken[] = [];

  add({ text, tokens = [] }: TextEvent): void {
    this.text += text;
    for (const token of tokens) this.tokens.push(token);
  }
}
