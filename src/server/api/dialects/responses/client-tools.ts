import { type Fields, isFields } from '../../../../lib/base/json.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import { memoizeByObject } from '../../../../lib/base/memoize-by-object.ts';
import { shown, textAt, typeAt } from '../fields.ts';
import type { PlacedTool } from '../renamed.ts';

export interface SortedTools {
  readonly own: readonly PlacedTool[];
  /** Tools with free-text input; the model sees them as functions of one string. */
  readonly custom: ReadonlySet<string>;
  readonly namespaced: ReadonlyMap<string, NamespacedTool>;
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
 * Agents send tools of their provider automatically in addition to their own and work without them, so those are left
 * out by name. A request with no other tool depends on them and is refused. The same list is sorted once.
 */
export const clientTools = memoizeByObject((tools: readonly Fields[]): SortedTools => {
  const sorted: Sorted = { own: [], custom: new Set(), namespaced: new Map(), ignored: [] };
  for (const [index, tool] of tools.entries()) sort(tool, `tools[${index}]`, sorted);
  const [first] = tools;
  if (first !== undefined && sorted.own.length === 0) {
    throw refusal(
      'tools[0].type',
      `is ${shown(typeAt(first, 'tools[0]'))}, a tool of its provider; define a function`,
    );
  }
  return sorted;
});

function sort(tool: Fields, path: string, sorted: Sorted, namespace?: string): void {
  const { description, parameters } = tool;
  const type = typeAt(tool, path);
  const name = namespace === undefined ? tool['name'] : nameWithin(namespace, nameAt(tool, path), sorted);
  if (type === 'function') {
    sorted.own.push({ path, tool: { name, description, parameters } });
  } else if (type === 'custom') {
    sorted.own.push({ path, tool: { name, description, parameters: FREE_TEXT } });
    sorted.custom.add(textAt(name, `${path}.name`));
    // The format of the text is a grammar for another engine.
    if (isFields(tool['format']) && tool['format']['type'] !== 'text') sorted.ignored.push(`${path}.format`);
  } else if (type === 'namespace' && Array.isArray(tool['tools'])) {
    for (const [index, inner] of tool['tools'].entries())
      if (isFields(inner)) sort(inner, `${path}.tools[${index}]`, sorted, nameAt(tool, path));
  } else {
    sorted.ignored.push(`${path}.${type}`);
  }
}

const nameAt = ({ name }: Fields, path: string): string => textAt(name, `${path}.name`);

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
