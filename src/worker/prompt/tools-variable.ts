/** Tools as a variable of a template. */
import type { ToolDefinition } from '../../contract/job.ts';
import type { ToolsVariable } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { writeJson } from '../../lib/json/spelled-numbers.ts';
import { OwnWords } from '../../../packages/chat-templates/src/jinja/values/convert.ts';

const USUAL: ToolsVariable = { name: 'tools', as: 'list' };

export function toolsVariable(
  tools: readonly ToolDefinition[],
  variable: ToolsVariable = USUAL,
): Record<string, unknown> {
  return tools.length === 0 ? { [USUAL.name]: null } : listedTools(tools, variable);
}

/** An empty list stays a list. */
export function listedTools(
  tools: readonly ToolDefinition[],
  { name, as }: ToolsVariable = USUAL,
): Record<string, unknown> {
  if (as === 'list') return { [name]: tools.map(listed) };
  return {
    [name]: writeJson(
      tools.map((tool) => ({ type: 'function', function: tool })),
      '    ',
    ),
  };
}

function listed({ name, description, parameters }: ToolDefinition): Record<string, unknown> {
  return { type: new OwnWords('function'), function: { name, description, parameters } };
}
