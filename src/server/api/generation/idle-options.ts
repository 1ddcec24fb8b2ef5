import { SAMPLING_ROWS } from '../../../contract/sampling-shapes.ts';
import type { IdleOption, ModelTarget } from '../../engine/ports.ts';
import { POOL_ENGINE } from '../../engine/upstream/ports.ts';
import { isJson, type JobContent } from './choices.ts';
import { canIgnoreEnd, type GenerationFields, readStop, resolveMaxTokens } from './parameters.ts';

const FIELD_OF: Readonly<Record<Exclude<IdleOption, 'thinkingBudget'>, string>> = {
  ...(Object.fromEntries(SAMPLING_ROWS.map(([option, { wire }]) => [option, wire])) as Record<
    (typeof SAMPLING_ROWS)[number][0],
    string
  >),
  numCtx: 'num_ctx',
  keepAlive: 'keep_alive',
};

const WAY_FIELDS = ['prompt_cache_key', 'svc_resume'] as const;

export function idleOptions(
  fields: GenerationFields,
  content: Pick<JobContent, 'format' | 'tools' | 'reasoning'>,
  target: Pick<ModelTarget, 'capabilities' | 'engine'>,
): string[] {
  return [
    ...resolveMaxTokens(fields).overruled,
    ...(isJson(content.format) && readStop(fields.stop).length > 0 ? ['stop'] : []),
    ...(fields.ignore_eos === true && !canIgnoreEnd(content) ? ['ignore_eos'] : []),
    ...idleWithEngine(fields, content, target),
  ];
}

function idleWithEngine(
  fields: GenerationFields,
  { reasoning }: Pick<JobContent, 'reasoning'>,
  { engine, capabilities: { idle = new Set() } }: Pick<ModelTarget, 'capabilities' | 'engine'>,
): string[] {
  const given = Object.entries(FIELD_OF).filter(([option, field]) => {
    const value = fields[field as keyof GenerationFields];
    return idle.has(option as IdleOption) && value !== undefined && value !== null;
  });
  const way = engine === POOL_ENGINE ? [] : WAY_FIELDS.filter((name) => (fields[name] ?? false) !== false);
  const budget = idle.has('thinkingBudget') && reasoning.budgetTokens !== undefined;
  return [...given.map(([, field]) => field), ...way, ...(budget ? ['reasoning_budget'] : [])];
}
