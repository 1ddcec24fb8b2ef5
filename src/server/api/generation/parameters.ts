/**
 * Resolves the generation options of a request: aliases (the smallest token limit wins), null as absent, and the list
 * of fields without effect, which the response names. Nothing is ignored silently.
 */
import { parseDuration } from '../../../lib/base/duration.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import { biasedTexts } from '../../../contract/sampling.ts';
import { type Sampling, SAMPLING_ROWS } from '../../../contract/sampling-shapes.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { generationFields } from '../../../wire/inference/generation.ts';
import type { CompletionRequest } from '../../../wire/inference/completions.ts';

export type GenerationFields = Omit<
  CompletionRequest,
  | 'model'
  | 'prompt'
  | 'parse_special'
  | 'suffix'
  | 'echo'
  | 'logprobs'
  | 'prompt_logprobs'
  | 'response_format'
  | 'json_schema'
>;

const TOKEN_LIMITS = ['num_predict', 'max_tokens', 'max_completion_tokens', 'n_predict'] as const;
/** No window is larger; more would not fit the integers of the engine. */
const MOST_TOKENS = 2 ** 31 - 1;

/** The smallest limit (null: none), and the names of the other limits. */
export function resolveMaxTokens(fields: GenerationFields): {
  maxTokens: number | null;
  isGiven: boolean;
  overruled: string[];
} {
  const given = TOKEN_LIMITS.flatMap((name) => {
    const value = fields[name];
    return value === null || value === undefined ? [] : [{ name, value: value === -1 ? Infinity : value }];
  });
  const smallest = Math.min(...given.map((limit) => limit.value));
  return {
    maxTokens: Number.isFinite(smallest) ? Math.min(smallest, MOST_TOKENS) : null,
    isGiven: given.length > 0,
    overruled: given.filter((limit) => limit.value > smallest).map((limit) => limit.name),
  };
}

export function readSampling(fields: GenerationFields): Sampling {
  const read = SAMPLING_ROWS.flatMap(([option, row]) => {
    const asked = fields[row.wire as keyof GenerationFields];
    if (asked === null || asked === undefined) return [];
    const value = row.read === undefined ? asked : row.read(asked as never);
    if (value === null) {
      throw fail('invalid_request', {
        message: row.expects ?? `${row.wire} is not usable.`,
        param: row.wire,
      });
    }
    return value === undefined ? [] : [[option, value]];
  });
  return Object.fromEntries(read) as Sampling;
}

export function readTokenRules(
  fields: GenerationFields,
  { format, tools }: Pick<GenerateJob, 'format' | 'tools'>,
): Pick<GenerateJob, 'biasedTexts' | 'ignoresEnd'> {
  const texts = biasedTexts(fields).map(([text, bias]): [string, number] => [text.toWellFormed(), bias]);
  const ignoresEnd = fields.ignore_eos === true && canIgnoreEnd({ format, tools });
  return {
    ...(texts.length === 0 ? {} : { biasedTexts: texts }),
    ...(ignoresEnd ? { ignoresEnd } : {}),
  };
}

export function canIgnoreEnd({ format, tools }: Pick<GenerateJob, 'format' | 'tools'>): boolean {
  return format.kind === 'text' && tools.length === 0;
}

export function readStop(stop: string | string[] | null | undefined): string[] {
  if (stop === null || stop === undefined || stop === '') return [];
  return typeof stop === 'string' ? [stop] : stop;
}

export function readKeepAlive(value: string | number | null | undefined): number | null {
  if (value === null || value === undefined) return null;
  const ms = parseDuration(value);
  if (ms !== undefined) return ms;
  throw fail('invalid_request', {
    message:
      'keep_alive must be a duration such as "10m", a number of seconds, 0, or a negative number for no limit.',
    param: 'keep_alive',
  });
}

export function sharedOptions(body: object): GenerationFields {
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(generationFields, name)));
}

export function unknownFields(body: object, known: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(body)
    .filter(([name, value]) => value !== null && !Object.hasOwn(known, name))
    .map(([name]) => name);
}

/** With SVC_STRICT_PARAMS an ineffective field is an error, else it is only reported. */
export function checkIgnored(strictParams: boolean, ignored: readonly string[]): void {
  const [first] = ignored;
  if (!strictParams || first === undefined) return;
  const param = first.slice(0, 64);
  throw fail('invalid_request', {
    message: `${param} has no effect here; remove it, or unset SVC_STRICT_PARAMS.`,
    param,
  });
}
