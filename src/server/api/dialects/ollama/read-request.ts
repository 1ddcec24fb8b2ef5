import type { AnswerFormat, Reasoning, Turn } from '../../../../contract/job.ts';
import { MOST_CALLS } from '../../../../contract/limits.ts';
import { SAMPLING_ROWS } from '../../../../contract/sampling-shapes.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import {
  OllamaChatRequest,
  OllamaGenerateRequest,
  type OllamaOptions,
  optionFields,
} from '../../../../wire/ollama/request.ts';
import { begunPrompt } from '../../chat/assistant-prefill.ts';
import type { ChatAsk } from '../../chat/chat.ts';
import type { JobContent } from '../../generation/choices.ts';
import { type GenerationFields, sharedOptions, unknownFields } from '../../generation/parameters.ts';
import { readThinking } from '../../intake/answer-format.ts';
import { readToolChoice } from '../../intake/tool-choice.ts';
import { readTools } from '../../intake/tools.ts';
import type { ServedModel } from '../../models/served-model.ts';
import { type FieldRows, idleFields, refuseFields } from '../fields.ts';
import { takenBy, type Takes, Omissions } from '../media.ts';
import { formatAs } from '../renamed.ts';
import { readMixed, readTurns } from './turns.ts';

type Body = OllamaChatRequest | OllamaGenerateRequest;

export function readChat(body: OllamaChatRequest): ChatAsk {
  return asked(body, OllamaChatRequest.properties, (takes, omissions) => {
    const { tools, toolChoice } = readToolChoice('auto', readTools(body.tools ?? []));
    const format = readFormat(body.format);
    const turns = readTurns(body.messages ?? [], takes, omissions);
    // Ollama's templates continue a final assistant message.
    const isBegun = turns.at(-1)?.role === 'assistant';
    const prompt = isBegun ? begunPrompt(turns, { toolChoice, format }) : { kind: 'chat' as const, turns };
    return { ...sharedContent(body), prompt, tools, toolChoice, maxCalls: MOST_CALLS, format };
  });
}

export function readGenerate(body: OllamaGenerateRequest): ChatAsk {
  refuseFields(body, FIELDS);
  return asked(body, OllamaGenerateRequest.properties, (takes, _, model) => ({
    ...sharedContent(body),
    prompt: generatePrompt(body, takes, model),
    tools: [],
    toolChoice: { mode: 'none' },
    format: readFormat(body.format),
  }));
}

function generatePrompt(body: OllamaGenerateRequest, takes: Takes, model: ServedModel): JobContent['prompt'] {
  const text = (body.prompt ?? '').toWellFormed();
  const suffix = (body.suffix ?? '').toWellFormed();
  const system = (body.system ?? '').toWellFormed();
  if (suffix !== '') return { kind: 'text', text, suffix };
  if (body.raw === true) return { kind: 'text', text, readsMarks: true };
  const user: Turn = { role: 'user', ...readMixed(text, body.images, { path: '', takes }) };
  if (!model.hasChatTemplate && system === '' && user.media === undefined) return { kind: 'text', text };
  return {
    kind: 'chat',
    turns: [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), user],
  };
}

export function readLoad(body: Body): ChatAsk {
  const turns: Turn[] = [{ role: 'user', content: '' }];
  const empty = { ...body, format: null, think: null, logprobs: null };
  return asked(body, { ...OllamaChatRequest.properties, ...OllamaGenerateRequest.properties }, () => ({
    ...sharedContent(empty),
    prompt: { kind: 'chat', turns },
    tools: [],
    toolChoice: { mode: 'none' },
    format: { kind: 'text' },
  }));
}

function asked(
  body: Body,
  known: Readonly<Record<string, unknown>>,
  content: (takes: Takes, omissions: Omissions, model: ServedModel) => JobContent,
): ChatAsk {
  const omissions = new Omissions();
  return {
    model: body.model,
    content: (model, fetches) => content(takenBy(model, fetches), omissions, model),
    options: readOptions(body),
    idle: ({ reasoning }) => [
      ...idleFields(body, FIELDS, reasoning),
      ...omissions.paths,
      ...unknownFields(body, known),
      ...unknownOptions(body.options),
    ],
  };
}

/** A text without a template has no place for a system prompt, and one around a gap none for images either. */
const isText = (body: Body): boolean => 'prompt' in body && (body.raw === true || (body.suffix ?? '') !== '');

const FIELDS: FieldRows<Body> = {
  context: {
    refused: (body) =>
      'context' in body && (body.context ?? []).length > 0
        ? 'must be empty; send the conversation to /api/chat'
        : null,
  },
  top_logprobs: { isIdle: ({ logprobs, top_logprobs: top }) => logprobs !== true && (top ?? 0) > 0 },
  think: { isIdle: ({ think }, canThink) => !canThink && think !== false },
  system: { isIdle: (body) => isText(body) && 'system' in body && body.system !== '' },
  images: { isIdle: (body) => isText(body) && 'images' in body && (body.images ?? []).length > 0 },
};

export function unknownOptions(options: OllamaOptions | null | undefined): string[] {
  return unknownFields(options ?? {}, optionFields).map((name) => `options.${name}`);
}

function readOptions({ options, keep_alive }: Body): GenerationFields {
  const own = Object.entries(options ?? {}).filter(([name]) => Object.hasOwn(optionFields, name));
  const { num_predict: limit, ...others } = Object.fromEntries(own) as OllamaOptions;
  return {
    ...sharedOptions(others),
    ...readRanges(others),
    ...(typeof limit === 'number' ? { num_predict: limit <= 0 ? -1 : limit } : {}),
    ...(keep_alive === undefined ? {} : { keep_alive }),
  };
}

function readRanges(options: object): GenerationFields {
  const read = SAMPLING_ROWS.flatMap(([, { wire, ollama }]) => {
    const asked: unknown = Reflect.get(options, wire);
    return ollama !== undefined && typeof asked === 'number' ? Object.entries(ollama.read(asked)) : [];
  });
  return Object.fromEntries(read);
}

const sharedContent = (body: Body): Pick<JobContent, 'reasoning' | 'topLogprobs'> => ({
  reasoning: readThink(body.think),
  topLogprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : null,
});

const FORMAT_NAMES = { 'response_format.json_schema.schema': 'format' };

function readFormat(format: Body['format']): AnswerFormat {
  if (format === undefined || format === null || format === '') return { kind: 'text' };
  if (format === 'json') return { kind: 'json_object' };
  if (typeof format === 'string') throw refusal('format', 'must be "json" or a JSON Schema');
  return formatAs({ type: 'json_schema', json_schema: { schema: format } }, FORMAT_NAMES);
}

const EFFORTS: readonly unknown[] = ['low', 'medium', 'high', 'max'];

function readThink(think: Body['think']): Reasoning {
  if (think === undefined || think === null) return {};
  if (typeof think === 'boolean') return readThinking({ enable_thinking: think });
  if (!EFFORTS.includes(think))
    throw refusal('think', 'must be true, false, "low", "medium", "high" or "max"');
  return readThinking({ enable_thinking: true, reasoning_effort: think });
}
