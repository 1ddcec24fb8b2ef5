/** Options of a request that the engine of its model has no use for, by the names that the request gave them. */
import { SAMPLING_ROWS } from '../../contract/sampling-shapes.ts';
import type { IdleOption, ModelTarget } from '../../engine/ports.ts';
import type { JobContent } from './choices.ts';
import type { GenerationFields } from './parameters.ts';

const FIELD_OF: Readonly<Record<Exclude<IdleOption, 'thinkingBudget'>, string>> = {
  ...(Object.fromEntries(SAMPLING_ROWS.map(([option, { wire }]) => [option, wire])) as Record<
    (typeof SAMPLING_ROWS)[number][0],
    string
  >),
  numCtx: 'num_ctx',
  keepAlive: 'keep_alive',
};

export function idleWithEngine(
  fields: GenerationFields,
  { reasoning }: Pick<JobContent, 'reasoning'>,
  { capabilities: { idle = new Set() } }: Pick<ModelTarget, 'capabilities'>,
): string[] {
  const given = Object.entries(FIELD_OF).filter(([option, field]) => {
    const value = fields[field as keyof GenerationFields];
    return idle.has(option as IdleOption) && value !== undefined && value !== null;
  });
  const budget = idle.has('thinkingBudget') && reasoning.budgetTokens !== undefined;
  return [...given.map(([, field]) => field), ...(budget ? ['reasoning_budget'] : [])];
}
