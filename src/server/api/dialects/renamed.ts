/** Tools and formats as server/api/intake reads them, with every refusal in the words of the dialect that sent them. */
import { type Fields } from '../../../lib/base/json.ts';
import type { AnswerFormat, ToolDefinition } from '../../../contract/job.ts';
import { memoizeByObject } from '../../../lib/base/memoize-by-object.ts';
import { fail, isFailure } from '../../../lib/errors/svc-error.ts';
import { readAnswerFormat } from '../intake/answer-format.ts';
import { schemaPlace, placeSchema } from '../intake/schema-places.ts';
import { readTools } from '../intake/tools.ts';

export interface PlacedTool {
  readonly path: string;
  readonly tool: Fields;
}

export type Names = Readonly<Record<string, string>>;

export function toolsAs(names: Names): (own: readonly PlacedTool[]) => ToolDefinition[] {
  return memoizeByObject((own) => {
    // Tools that were left out have shifted the indexes of the others.
    const inPlace = (words: string): string =>
      renamed(
        words.replaceAll(/\btools\[(\d+)\]/g, (path, at) => own[Number(at)]?.path ?? path),
        names,
      );
    const tools = inWords(inPlace, () => readTools(own.map(({ tool }) => tool)));
    for (const { parameters } of tools) placeSchema(parameters, inPlace(schemaPlace(parameters)));
    return tools;
  });
}

export function formatAs(response_format: Fields, names: Names): AnswerFormat {
  const inPlace = (words: string): string => renamed(words, names);
  const format = inWords(inPlace, () => readAnswerFormat({ response_format }));
  if (format.kind === 'json_schema') placeSchema(format.schema, inPlace(schemaPlace(format.schema)));
  return format;
}

const renamed = (words: string, names: Names): string =>
  Object.entries(names).reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), words);

function inWords<T>(translated: (words: string) => string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isFailure(error, 'invalid_request')) throw error;
    const { param = '', message } = error.detail;
    throw fail('invalid_request', { param: translated(param), message: translated(message) }, error);
  }
}
