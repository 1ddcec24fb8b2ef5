/** What the schemas of a conversation ask for that no grammar enforces. */
import type { AnswerFormat, ToolDefinition } from '../../contract/job.ts';
import { type AskedSchema, schemaDesk } from '../intake/schema-desk.ts';
import { placeOf } from '../intake/schema-places.ts';

/** A keyword that only the check of the finished answer enforces. */
export interface Relaxation {
  /** Null: of the answer's own schema. */
  readonly tool: string | null;
  /** JSON Pointer of the schema that has the keyword. */
  readonly pointer: string;
  readonly keyword: string;
}

/**
 * Examines every schema of a conversation. Those of tools are relaxed where a grammar cannot follow, unless `strict`;
 * that of the answer is refused there.
 */
export async function relaxationsOf(
  { tools, format }: { readonly tools: readonly ToolDefinition[]; readonly format: AnswerFormat },
  strict: boolean,
): Promise<readonly Relaxation[]> {
  const ofTools = tools.map(({ parameters }) => askedSchema(parameters, !strict));
  const ofAnswer = format.kind === 'json_schema' ? [askedSchema(format.schema, false)] : [];
  const asked = [...ofTools, ...ofAnswer];
  if (asked.length === 0) return [];
  const leftOut = await schemaDesk.examine(asked);
  return leftOut.flatMap((keywords, index) =>
    keywords.map((keyword) => ({ tool: tools[index]?.name ?? null, ...keyword })),
  );
}

function askedSchema(schema: object, relax: boolean): AskedSchema {
  return { schema, path: placeOf(schema), relax };
}
