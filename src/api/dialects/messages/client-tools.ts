/** The tools of a Messages request: those that the client runs, and those that only the provider could. */
import { refusal } from '../../../lib/errors/refusal.ts';
import { memoizeByObject } from '../../../lib/base/recent/memoize-by-object.ts';
import { type Fields, shown } from '../fields.ts';
import type { PlacedTool } from '../renamed.ts';

export interface SortedTools {
  /** As api/intake reads them. */
  readonly own: readonly PlacedTool[];
  /** Paths of tools that nothing here can run and that are left out. */
  readonly ignored: readonly string[];
}

/**
 * A tool without a schema belongs to the provider: it runs there, or its schema is known to its models alone. An agent
 * sends such tools beside its own without being asked, and works without them; a request with no other tool was made
 * for it. The same list is sorted once.
 */
export const clientTools = memoizeByObject((tools: readonly Fields[]): SortedTools => {
  const isOwn = ({ type }: Fields): boolean => type === undefined || type === null || type === 'custom';
  const foreign = tools.flatMap((tool, index) => (isOwn(tool) ? [] : [{ tool, index }]));
  const [first] = foreign;
  if (first !== undefined && foreign.length === tools.length) {
    const path = `tools[${first.index}].type`;
    throw refusal(
      path,
      `is ${shown(first.tool['type'])}, a tool of its provider; define one with an input_schema`,
    );
  }
  return {
    own: tools.flatMap((tool, index) => {
      const { name, description, input_schema } = tool;
      const read = { name, description, parameters: input_schema };
      return isOwn(tool) ? [{ path: `tools[${index}]`, tool: read }] : [];
    }),
    ignored: foreign.map(({ tool, index }) => `tools[${index}].${String(tool['type'])}`),
  };
});
