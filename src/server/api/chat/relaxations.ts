import type { AnswerFormat, ToolDefinition } from '../../../contract/job.ts';
import { RecentTexts } from '../../../lib/base/recent-texts.ts';
import { toolsText } from '../../../contract/job-tools.ts';
import { type AskedSchema, schemaValidator } from '../intake/schema-validator.ts';
import type { LeftOut } from '../intake/schema-messages.ts';
import { schemaPlace } from '../intake/schema-places.ts';

/**
 * A keyword that only the check of the finished answer enforces. `narrowed`: some of its values cannot be generated.
 */
export interface Relaxation {
  readonly tool: string | null;
  readonly pointer: string;
  readonly keyword: string;
  readonly narrowed?: true;
}

const KEPT = { entries: 32, chars: 4_000_000 };

/** Relaxations by the text of a whole set of tools, so that a repeated set is hashed only once. */
const sets = {
  strict: new RecentTexts<readonly Relaxation[]>(KEPT),
  relaxed: new RecentTexts<readonly Relaxation[]>(KEPT),
};

/**
 * Examines every schema of a conversation. Unless `strict`, tool schemas are relaxed where a grammar cannot follow;
 * an answer schema is refused there. A known set is not examined again, because agents send the same tools with every
 * turn.
 */
export async function findRelaxations(
  { tools, format }: { readonly tools: readonly ToolDefinition[]; readonly format: AnswerFormat },
  strict: boolean,
): Promise<readonly Relaxation[]> {
  const ofAnswer = format.kind === 'json_schema' ? [askedSchema(format.schema, false)] : [];
  const key = tools.length === 0 ? null : toolsText(tools);
  const verdicts = strict ? sets.strict : sets.relaxed;
  const known = key === null ? [] : verdicts.get(key);
  const ofTools = known === undefined ? tools.map((tool) => askedSchema(tool.parameters, !strict)) : [];
  const asked = [...ofTools, ...ofAnswer];
  const leftOut = asked.length === 0 ? [] : await schemaValidator.examine(asked);
  const found = known ?? tools.flatMap(({ name }, index) => named(name, leftOut[index]));
  if (key !== null && known === undefined) verdicts.set(key, found);
  const answers = leftOut.slice(ofTools.length).flatMap((keywords) => named(null, keywords));
  return answers.length === 0 ? found : [...found, ...answers];
}

function named(tool: string | null, keywords: readonly LeftOut[] = []): Relaxation[] {
  return keywords.map((keyword) => ({ tool, ...keyword }));
}

function askedSchema(schema: object, relax: boolean): AskedSchema {
  return { schema, path: schemaPlace(schema), relax };
}
