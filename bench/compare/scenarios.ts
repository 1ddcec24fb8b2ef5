/** All scenarios of `compare`, in the order in which they run: memory last, when every cache has been used. */
import { editScenario } from './edits.ts';
import { memory } from './memory.ts';
import { promptScenarios } from './prompts.ts';
import { requestScenarios } from './requests.ts';
import type { Scenario } from './scenario.ts';
import { streamScenarios } from './streams.ts';

export const scenarios: readonly Scenario[] = [
  ...streamScenarios,
  ...promptScenarios,
  ...requestScenarios,
  editScenario,
  memory,
];

/** By name, or by what a name begins with: `burst` is all of `burst-2`, `burst-4` and `burst-8`. */
export function chooseScenarios(only: string | undefined): readonly Scenario[] {
  if (only === undefined) return scenarios.filter(({ onlyNamed }) => onlyNamed !== true);
  const wanted = only.split(',');
  const fits = (scenario: Scenario, name: string): boolean =>
    scenario.name === name || scenario.name.startsWith(`${name}-`);
  const unknown = wanted.find((name) => !scenarios.some((scenario) => fits(scenario, name)));
  if (unknown !== undefined) {
    const names = scenarios.map(({ name }) => name).join(', ');
    throw new Error(`there is no scenario "${unknown}"; there are: ${names}`);
  }
  return scenarios.filter((scenario) => wanted.some((name) => fits(scenario, name)));
}
