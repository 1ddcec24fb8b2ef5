/**
 * The generation options of a request, resolved: aliases (smallest token limit wins), null read as absent, and the
 * list of fields that had no effect, which the response names. Nothing is ignored in silence.
 */
import { parseDuration } from '../../lib/base/duration.ts';
import type { Sampling } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { CompletionRequest } from '../../wire/inference/completions.ts';

/** The fields that chat and text completion share. */
export type GenerationFields = Omit<CompletionRequest, 'model' | 'prompt'>;

const tokenLimits = ['num_predict', 'max_tokens', 'max_completion_tokens'] as const;
/** No window is larger; more would not fit the integers of the engine. */
const mostTokens = 2 ** 31 - 1;
const interfaceFields = new Set([
  'model',
  'messages',
  'temperature',
  'max_tokens',
  'num_predict',
  'num_ctx',
  'stream',
  'tools',
]);

/** The smallest limit given; null: without limit, or none given. And the names of limits that lost. */
export function resolveMaxTokens(fields: GenerationFields): {
  maxTokens: number | null;
  isGiven: boolean;
  overruled: string[];
} {
  const given = tokenLimits.flatMap((name) => {
    const value = fields[name];
    return value === null || value === undefined ? [] : [{ name, value: value === -1 ? Infinity : value }];
  });
  const smallest = Math.min(...given.map((limit) => limit.value));
  return {
    maxTokens: Number.isFinite(smallest) ? Math.min(smallest, mostTokens) : null,
    isGiven: given.length > 0,
    overruled: given.filter((limit) => limit.value > smallest).map((limit) => limit.name),
  };
}

/** The sampling options as the engine takes them; absent members stay absent. */
export function readSampling(fields: GenerationFields): Sampling {
  const seed = fields.seed ?? -1;
  const bias = Object.entries(fields.logit_bias ?? {}).map(
    ([token, value]) => [tokenId(token), value] as [number, number],
  );
  return definedOnly({
    temperature: fields.temperature,
    topP: fields.top_p,
    topK: fields.top_k,
    minP: fields.min_p,
    seed: seed === -1 ? undefined : seed % 2 ** 32,
    repeatPenalty: fields.repeat_penalty,
    repeatLastN: fields.repeat_last_n,
    presencePenalty: fields.presence_penalty,
    frequencyPenalty: fields.frequency_penalty,
    logitBias: bias.length > 0 ? bias : undefined,
  });
}

function tokenId(key: string): number {
  if (/^\d{1,9}$/.test(key)) return Number(key);
  throw fail('invalid_request', {
    message: 'logit_bias must map token ids, written as whole numbers, to a bias.',
    param: 'logit_bias',
  });
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], null | undefined> };

function definedOnly<T extends object>(object: T): Partial<Defined<T>> {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<Defined<T>>;
}

/** The stop strings as a list. */
export function readStop(stop: string | string[] | null | undefined): string[] {
  if (stop === null || stop === undefined || stop === '') return [];
  return typeof stop === 'string' ? [stop] : stop;
}

/** Milliseconds to keep the model, or null for the default; a value that is no duration is refused. */
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

/** True when the request carries a field outside the interface, as OpenAI clients send. */
export function hasForeignField(body: object): boolean {
  return Object.entries(body).some(([name, value]) => value !== null && !interfaceFields.has(name));
}

/** Fields of the request that no rule reads, in the order sent; null counts as absent. */
export function unknownFields(body: object, known: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(body)
    .filter(([name, value]) => value !== null && !Object.hasOwn(known, name))
    .map(([name]) => name);
}

/** Header-safe: long or odd names are shortened, because clients choose them. */
export function ignoredHeader(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const safe = names.map((name) => name.replaceAll(/[^\w.[\]-]/g, '?').slice(0, 64));
  return [...new Set(safe)].slice(0, 32).join(',');
}
