/**
 * server/engine/upstream/chat owns the conversion of jobs to requests in the upstream's dialect, and of answers to job
 * events. Pure: it knows nothing of sockets.
 */
import type { GenerateJob } from '../../../../contract/job.ts';
import { wireBiases } from '../../../../contract/sampling.ts';
import { SAMPLING_ROWS } from '../../../../contract/sampling-shapes.ts';
import { fail } from '../../../../lib/errors/svc-error.ts';
import type { Dialect } from '../ports.ts';
import { ABILITIES, type Abilities, samplingName } from './abilities.ts';
import { toMessages } from './messages.ts';

export interface UpstreamRequest {
  readonly path: '/chat/completions' | '/completions' | '/embeddings';
  readonly body: Readonly<Record<string, unknown>>;
}

/** `model` is the upstream's name, `id` ours. */
export interface Written {
  readonly dialect: Dialect;
  readonly model: string;
  readonly id: string;
}

type Fields = Record<string, unknown>;

/** Always streamed, so there is one way in which an answer can end; whole answers are collected on this side. */
export function writeRequest(job: GenerateJob, written: Written): UpstreamRequest {
  const abilities = ABILITIES[written.dialect];
  if (job.scoredPrompt !== undefined) {
    throw missing(
      written.id,
      'prompt_logprobs, or echo beside logprobs,',
      'report log probabilities of prompts',
    );
  }
  const common = {
    model: written.model,
    stream: true,
    stream_options: { include_usage: true },
    ...samplingFields(job, written.dialect),
    ...limitFields(job, abilities),
    ...formatFields(job, abilities, written),
    ...tokenRuleFields(job, abilities, written),
  };
  if (job.prompt.kind !== 'chat') {
    const logprobs = job.topLogprobs === null ? {} : { logprobs: job.topLogprobs };
    return {
      path: '/completions',
      body: { ...common, ...rawPromptFields(job.prompt, written), ...logprobs },
    };
  }
  return {
    path: '/chat/completions',
    body: {
      ...common,
      messages: toMessages(job.prompt.turns, abilities),
      ...begunAnswerFields(job.prompt, abilities, written),
      ...toolFields(job, abilities),
      ...thinkingFields(job, abilities),
      ...(job.topLogprobs === null ? {} : { logprobs: true, top_logprobs: job.topLogprobs }),
    },
  };
}

function rawPromptFields(prompt: Exclude<GenerateJob['prompt'], { kind: 'chat' }>, written: Written): Fields {
  if (prompt.kind === 'tokens') return { prompt: prompt.tokens };
  const marks = prompt.readsMarks === true && written.dialect === 'hearth' ? { parse_special: true } : {};
  if (prompt.kind === 'mixed') {
    if (!ABILITIES[written.dialect].mixedPrompts)
      throw missing(written.id, 'the texts or the tokens of prompt', 'continue texts and tokens in turn');
    return { prompt: prompt.parts.flat(), ...marks };
  }
  if (prompt.files !== undefined) throw missing(written.id, 'input_extra', 'read further files');
  return { prompt: prompt.text, ...(prompt.suffix === undefined ? {} : { suffix: prompt.suffix }), ...marks };
}

function samplingFields({ sampling }: GenerateJob, dialect: Dialect): Fields {
  const fields: Fields = {};
  for (const [option, row] of SAMPLING_ROWS) {
    const [name, value] = [samplingName(dialect, row), sampling[option]];
    if (name === null || value === undefined) continue;
    fields[name] = Array.isArray(value) ? Object.fromEntries(value) : value;
  }
  return fields;
}

function tokenRuleFields(
  { biasedTexts = [], ignoresEnd = false, sampling }: GenerateJob,
  abilities: Abilities,
  { id }: Written,
): Fields {
  if (ignoresEnd && !abilities.ignoresEnd) throw missing(id, 'ignore_eos', 'ignore the end of an answer');
  if (biasedTexts.length > 0 && !abilities.biasedTexts)
    throw missing(id, 'biases of texts', 'read them; name tokens by their ids');
  return {
    ...(ignoresEnd ? { ignore_eos: true } : {}),
    ...(biasedTexts.length === 0 ? {} : wireBiases(sampling, biasedTexts)),
  };
}

function begunAnswerFields(
  { continues, opens }: { readonly continues?: boolean; readonly opens?: boolean },
  { begunAnswers }: Abilities,
  { id }: Written,
): Fields {
  if (opens === false && continues !== true) {
    if (begunAnswers === null)
      throw missing(id, 'add_generation_prompt', 'leave out how an answer is opened');
    return { add_generation_prompt: false };
  }
  if (continues !== true || begunAnswers === 'always') return {};
  if (begunAnswers === null) throw missing(id, 'the last message', 'continue an answer that is begun');
  return { continue_final_message: true, add_generation_prompt: false };
}

const missing = (model: string, what: string, ability: string): Error =>
  fail('capability_missing', { model, ability, remedy: `leave ${what} out` });

function limitFields({ maxTokens, numCtx, stop }: GenerateJob, abilities: Abilities): Fields {
  return {
    ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    ...(abilities.numCtx && numCtx !== null ? { num_ctx: numCtx } : {}),
    ...(stop.length === 0 ? {} : { stop }),
  };
}

function formatFields({ format }: GenerateJob, { grammar }: Abilities, { id }: Written): Fields {
  switch (format.kind) {
    case 'text':
      return {};
    case 'json_object':
      return { response_format: { type: 'json_object' } };
    case 'json_schema':
      return {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', strict: true, schema: format.schema },
        },
      };
    case 'grammar': {
      const [outer = '', inner] = grammar ?? [];
      if (grammar !== null) return { [outer]: inner === undefined ? format.gbnf : { [inner]: format.gbnf } };
      throw fail('capability_missing', {
        model: id,
        ability: 'follow a grammar',
        remedy: 'leave grammar out, or ask for a JSON Schema',
        param: 'grammar',
      });
    }
  }
}

function toolFields(
  { tools, toolChoice, maxCalls }: GenerateJob,
  { parallelCalls, toolChoice: takesChoice }: Abilities,
): Fields {
  if (tools.length === 0 || (toolChoice.mode === 'none' && !takesChoice)) return {};
  const choice =
    toolChoice.mode === 'named' ? { type: 'function', function: { name: toolChoice.name } } : toolChoice.mode;
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
    ...(takesChoice ? { tool_choice: choice } : {}),
    ...(parallelCalls ? { parallel_tool_calls: (maxCalls ?? 1) > 1 } : {}),
  };
}

function thinkingFields({ reasoning }: GenerateJob, { thinking, thinkingBudget }: Abilities): Fields {
  const { enabled, effort, budgetTokens } = reasoning;
  return {
    ...(enabled === undefined ? {} : thinkingSwitch(enabled, thinking)),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(budgetTokens === undefined || thinkingBudget === null ? {} : { [thinkingBudget]: budgetTokens }),
  };
}

function thinkingSwitch(enabled: boolean, thinking: Abilities['thinking']): Fields {
  if (thinking === 'switch') return { chat_template_kwargs: { enable_thinking: enabled } };
  if (thinking === 'plain') return { enable_thinking: enabled };
  return enabled ? {} : { reasoning_effort: 'none' };
}
