/** What a worker is told of templates and formats: names and texts, never files. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { LoadSettings } from '../../contract/settings/shapes.ts';
import { openWriters } from './writers.ts';

const said = (settings: LoadSettings): string => {
  try {
    const { writer } = openWriters(
      { modelId: 'm', settings },
      { vocabulary: { controlTokens: [] } as never, chatTemplate: null, toolTemplate: null },
    );
    return writer === null ? 'none' : 'usable';
  } catch (error) {
    return (error as Error).message;
  }
};

it.each([
  ['template', '{{ messages[0].content }}'],
  ['toolFormat', '{"thinking": {"open": "<a>", "close": "</a>"}}'],
] as const)('a path in %s is opened by no worker, whatever is there', async (name, text) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'hearth-writers-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'x');
  const missing = said({ [name]: file });
  await writeFile(file, text);
  expect([said({ [name]: file }), missing]).toEqual([missing, expect.stringContaining('it names a file')]);
});
