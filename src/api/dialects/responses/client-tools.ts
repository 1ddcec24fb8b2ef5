/** The tools of a Responses request: functions, tools of free text, and those that only the provider could run. */
import { refusal } from '../../../lib/errors/refusal.ts';
import { memoizeByObject } from '../../../lib/base/memoize-by-object.ts';
import { type Fields, isFields, shown } from '../fields.ts';
import type { PlacedTool } from '../renamed.ts';

export interface SortedTools {
  /** In the shape of api/intake, in order. */
  readonly own: readonly PlacedTool[];
  /** Names of the tools whose input is free text: to the model, functions of one string. */
  readonly custom: ReadonlySet<string>;
  /** Tools of namespaces, by the name that the model reads. */
  readonly namespaced: ReadonlyMap<string, NamespacedTool>;
  /** Paths of tools that nothing here can run and that are left out, and of demands that nothing holds answers to. */
  readonly ignored: readonly string[];
}

export interface NamespacedTool {
  readonly namespace: string;
  readonly name: string;
}

interface Sorted {
  readonly namespaced: Map<string, NamespacedTool>;
  readonly own: PlacedTool[];
  readonly custom: Set<string>;
  readonly ignored: string[];
}

/**
 * An agent sends tools of its provider beside its own without being asked, and works without them: those are left out
 * by name. A request with no other tool was made for them, and is refused. The same list is sorted once.
 */
export const clientTools = memoizeByObject((tools: readonly Fields[]): SortedTools => {
  const sorted: Sorted = { own: [], custom: new Set(), namespaced: new Map(), ignored: [] };
  for (const [index, tool] of tools.entries()) sort(tool, `tools[${index}]`, sorted);
  const [first] = tools;
  if (first !== undefined && sorted.own.length === 0)
    throw refusal('tools[0].type', `is ${shown(first['type'])}, a tool of its provider; define a function`);
  return sorted;
});

function sort(tool: Fields, path: string, sorted: Sorted, namespace?: string): void {
  const { type, description, parameters } = tool;
  const name = namespace === undefined ? tool['name'] : nameWithin(namespace, String(tool['name']), sorted);
  if (type === 'function') {
    sorted.own.push({ path, tool: { name, description, parameters } });
  } else if (type === 'custom') {
    sorted.own.push({ path, tool: { name, description, parameters: FREE_TEXT } });
    sorted.custom.add(String(name));
    // The required form of the text is written for another engine's grammars.
    if (isFields(tool['format']) && tool['format']['type'] !== 'text') sorted.ignored.push(`${path}.format`);
  } else if (type === 'namespace' && Array.isArray(tool['tools'])) {
    for (const [index, inner] of tool['tools'].entries())
      if (isFields(inner)) sort(inner, `${path}.tools[${index}]`, sorted, String(tool['name']));
  } else {
    sorted.ignored.push(`${path}.${String(type)}`);
  }
}

/** Its own name, unless another tool has it already. */
function nameWithin(namespace: string, name: string, { own, namespaced }: Sorted): string {
  const isTaken = own.some(({ tool }) => tool['name'] === name);
  const read = isTaken ? `${namespace}__${name}`.slice(0, 64) : name;
  namespaced.set(read, { namespace, name });
  return read;
}

const FREE_TEXT = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};
