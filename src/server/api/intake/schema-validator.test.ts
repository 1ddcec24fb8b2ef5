import { queryObjects } from 'node:v8';
import { expect, it } from 'vitest';
import { schemaValidator } from './schema-validator.ts';

const MIB = 1024 * 1024;

const NOTES = 50;

/** A schema whose notes have pointers as long as a client likes. */
function withNotes(name: string, chars: number): object {
  const values = Array.from({ length: NOTES }, (_, at) => [`${at}`, { type: 'array', uniqueItems: true }]);
  const inner = { type: 'object', properties: Object.fromEntries(values) };
  return { type: 'object', properties: { [name.padEnd(chars, 'n')]: inner } };
}

const notesOf = async (schema: object) =>
  (await schemaValidator.examine([{ schema, path: 'schema', relax: true }]))[0] ?? [];

/** Counting objects collects the garbage first. */
function heapBytes(): number {
  queryObjects(Array, { format: 'count' });
  return process.memoryUsage().heapUsed;
}

it('keeps a bounded part of what it found in schemas', async () => {
  const known = await notesOf(withNotes('first', 10));
  expect(known.length).toBeGreaterThanOrEqual(NOTES);
  const before = heapBytes();
  for (let at = 0; at < 10; at += 1)
    expect(await notesOf(withNotes(`${at}`, 60_000))).toHaveLength(known.length);
  expect(heapBytes() - before).toBeLessThan(16 * MIB);
});

it('tells all that it found in a schema even if it keeps none of it', async () => {
  const known = await notesOf(withNotes('known', 10));
  const asked = [withNotes('huge', 100_000), withNotes('known', 10), withNotes('other', 10)];
  const ask = asked.map((schema) => ({ schema, path: 'schema', relax: true }));
  for (let times = 0; times < 2; times += 1) {
    const [huge = [], again, other] = await schemaValidator.examine(ask);
    expect(huge).toHaveLength(known.length);
    expect(huge.filter(({ pointer }) => pointer.length > 100_000).length).toBeGreaterThanOrEqual(NOTES);
    expect(again).toEqual(known);
    expect(other).toHaveLength(known.length);
  }
});
