import { type Fields, isFields } from '../../../lib/base/json.ts';
import type { ToolChoice, ToolDefinition } from '../../../contract/job.ts';
import { refusal } from '../../../lib/errors/refusal.ts';

export interface Chosen {
  readonly tools: ToolDefinition[];
  readonly toolChoice: ToolChoice;
}

const EXPECTED = '"none", "auto", "required" or {"type":"function","function":{"name":…}}';
const REQUIRED: readonly unknown[] = ['required', 'any'];
const NAMING: readonly unknown[] = ['function', 'custom', 'tool'];

export function readToolChoice(
  choice: unknown,
  tools: readonly ToolDefinition[],
  {
    expected = EXPECTED,
    place = 'tool_choice',
  }: { readonly expected?: string; readonly place?: string } = {},
): Chosen {
  const all = [...tools];
  const type = isFields(choice) ? choice['type'] : (choice ?? 'auto');
  if (type === 'none') return { tools: all, toolChoice: { mode: 'none' } };
  if (type === 'auto') return { tools: all, toolChoice: { mode: all.length > 0 ? 'auto' : 'none' } };
  if (REQUIRED.includes(type)) {
    if (all.length === 0) throw refusal('tool_choice', `is "${String(type)}", but there are no tools`);
    return { tools: all, toolChoice: { mode: 'required' } };
  }
  if (!isFields(choice)) throw refusal(place, `must be ${expected}`);
  if (type === 'allowed_tools') return allowed(choice, all);
  const named = NAMING.includes(type) ? nameIn(choice) : null;
  if (named === null) throw refusal(place, `must be ${expected}`);
  if (!all.some((tool) => tool.name === named.name)) {
    const shown = `"${named.name.slice(0, 64)}"`;
    throw refusal(`tool_choice${named.at}.name`, `names ${shown}, which is not among the tools`);
  }
  return { tools: all, toolChoice: { mode: 'named', name: named.name } };
}

/** Chat completions wrap the list in a member of its own, Responses do not. */
function allowed(choice: Fields, tools: readonly ToolDefinition[]): Chosen {
  const wrapped = choice['allowed_tools'];
  const at = isFields(wrapped) ? 'tool_choice.allowed_tools' : 'tool_choice';
  const { mode, tools: listed } = isFields(wrapped) ? wrapped : choice;
  if (!Array.isArray(listed)) throw refusal(`${at}.tools`, 'must be a list of tools by name');
  if (mode !== 'auto' && mode !== 'required') throw refusal(`${at}.mode`, 'must be "auto" or "required"');
  const names = new Set(listed.map((each: unknown) => (isFields(each) ? nameIn(each)?.name : undefined)));
  const left = tools.filter(({ name }) => names.has(name));
  if (left.length === 0)
    throw refusal(`${at}.tools`, 'names none of the tools; name one, or leave tool_choice out');
  return { tools: left, toolChoice: { mode } };
}

function nameIn(fields: Fields): { readonly name: string; readonly at: string } | null {
  for (const member of ['function', 'custom']) {
    const inner = fields[member];
    if (isFields(inner) && typeof inner['name'] === 'string')
      return { name: inner['name'], at: `.${member}` };
  }
  return typeof fields['name'] === 'string' ? { name: fields['name'], at: '' } : null;
}
