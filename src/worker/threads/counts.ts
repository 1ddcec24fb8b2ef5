import type { ChatModel } from '../model.ts';

/** Every doubling and all cores. Finer steps differ by less than measuring them costs. */
export function threadCounts(cores: number): number[] {
  const counts: number[] = [];
  for (let threads = 1; threads < cores; threads *= 2) counts.push(threads);
  return [...counts, cores];
}

/** In ascending order; a single one if the user or a GPU decides. */
export function countsFor({
  spec,
  facts,
  backend,
}: Pick<ChatModel, 'spec' | 'facts' | 'backend'>): readonly number[] {
  if (spec.threads !== null || backend.facts.gpu !== 'none') return [facts.threads];
  const counts = new Set([...threadCounts(Math.max(1, backend.facts.cpuMathCores)), facts.threads]);
  return [...counts].sort((a, b) => a - b);
}
