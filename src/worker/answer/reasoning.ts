/** The switches for thinking that a chat template has, and how much of an answer thinking may take. */

export interface ThinkingSwitches {
  readonly enabled?: boolean | undefined;
  readonly effort?: string | undefined;
}

/** Template variables for the switches that this template reads; unknown variables are not set. */
export function thinkingVariables(template: string, switches: ThinkingSwitches): Record<string, unknown> {
  const variables: Record<string, unknown> = {};
  const { enabled, effort } = switches;
  for (const name of ['enable_thinking', 'thinking'] as const)
    if (enabled !== undefined && readsVariable(template, name)) variables[name] = enabled;
  if (enabled !== undefined && readsVariable(template, 'thinking_mode'))
    variables['thinking_mode'] = enabled ? 'enabled' : 'disabled';
  if (effort !== undefined && readsVariable(template, 'reasoning_effort'))
    variables['reasoning_effort'] = effort;
  return variables;
}

/** Share of the answer that thinking may take when no budget is named. */
const SHARE_OF_EFFORT: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.25, medium: 0.5 };
const DEFAULT_SHARE = 0.75;

/** Tokens after which thinking is ended: as requested, but always with room left for the answer. */
export function thinkingBudget(asked: number | undefined, effort: string | undefined, room: number): number {
  const most = Math.floor(room * DEFAULT_SHARE);
  if (asked !== undefined) return Math.min(asked, most);
  return Math.floor(room * (SHARE_OF_EFFORT[effort ?? ''] ?? DEFAULT_SHARE));
}

/** A whole word inside the template's own code, not in its text. */
function readsVariable(template: string, name: string): boolean {
  // In the text up to the last block, each block that opens is closed.
  const end = Math.max(template.lastIndexOf('%}'), template.lastIndexOf('}}'));
  const code = template.slice(0, end + 2).match(/\{[%{][\s\S]*?[%}]\}/g) ?? [];
  const word = new RegExp(`(?<![\\w.'"])${name}(?!\\w)`);
  return code.some((block) => word.test(block));
}
