/** Random schemas and tools on llama.cpp: a model without sense, held to shape by the grammar alone. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { FORMAT_PATTERNS } from '../../packages/schema-grammar/src/string-formats.ts';
import { seeded } from '../../packages/schema-grammar/test/grammar-walk.ts';
import { randomRootSchema } from '../../packages/schema-grammar/test/random-schema.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

const CASES = process.env['SVC_LONG_TESTS'] === '1' ? 300 : 60;
const formats = Object.fromEntries(
  Object.entries(FORMAT_PATTERNS).map(([name, source]) => [name, new RegExp(source)]),
);
const ajv = new Ajv2020({ strict: false, formats, meta: false, validateSchema: false });

let folder: string;
let worker: TestWorker;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-structured-'));
  const model = path.join(folder, 'tiny.gguf');
  await writeTinyChat(model);
  worker = await bootWorker();
  await worker.load({ path: model, numCtx: 2048, parallel: 8 });
});

afterAll(async () => {
  await worker.end();
  await rm(folder, { recursive: true });
});

describe('answers of a model with random weights', () => {
  it(`parse and validate for ${CASES} random schemas`, async () => {
    const random = seeded(21);
    const schemas = Array.from({ length: CASES }, () => randomRootSchema(random, { unbounded: false }));
    await inGroups(schemas, 8, async (schema, index) => {
      const answer = await worker.generate({
        format: { kind: 'json_schema', schema },
        sampling: { temperature: 1, seed: index },
        maxTokens: null,
      });
      expect(answer.done.finishReason, answer.text).toBe('stop');
      const valid = ajv.compile(schema);
      expect(valid(JSON.parse(answer.text)), `${JSON.stringify(schema)} → ${answer.text}`).toBe(true);
    });
  });
});

async function inGroups<T>(
  items: readonly T[],
  size: number,
  run: (item: T, index: number) => Promise<void>,
) {
  for (let start = 0; start < items.length; start += size)
    await Promise.all(items.slice(start, start + size).map((item, offset) => run(item, start + offset)));
}
