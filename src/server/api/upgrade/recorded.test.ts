import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromArchive, readRecorded } from './recorded.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-recorded-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const chat = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] });
const entry = (body: unknown) => ({ request: { method: 'POST', postData: { text: JSON.stringify(body) } } });
const archive = (...entries: unknown[]) => ({ log: { entries } });
const promptsOf = ({ requests }: Awaited<ReturnType<typeof readRecorded>>) =>
  requests.map(({ content }) => content.prompt);
const chatOf = (content: string) => ({ kind: 'chat', turns: [{ role: 'user', content }] });

describe('recorded requests', () => {
  it('are the last chats and completions of an archive', async () => {
    const recorded = fromArchive(
      archive(
        entry(chat('one')),
        entry(chat('two')),
        { request: { method: 'GET' } },
        entry({ model: 'm', prompt: 'three' }),
      ),
      2,
    );
    expect(promptsOf(recorded)).toMatchObject([chatOf('two'), { kind: 'text', text: 'three' }]);
    expect(recorded.left).toBe(0);
  });

  it.each<[string, unknown]>([
    ['without its text', { request: {} }],
    ['that is cut', { request: { postData: { text: '{"messages": [' } } }],
    ['for vectors', entry({ model: 'm', input: 'x' })],
    ['with tokens', entry({ model: 'm', prompt: [1, 2] })],
    ['with several prompts', entry({ model: 'm', prompt: ['a', 'b'] })],
    [
      'with an image',
      entry({
        model: 'm',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,x' } }] }],
      }),
    ],
    ['that is no object', 7],
  ])('count as left out: one %s', (_, odd) => {
    expect(fromArchive(archive(odd, entry(chat('a'))), 9)).toMatchObject({
      left: 1,
      requests: [{ name: 'request 2' }],
    });
  });

  it.each<[unknown]>([[null], [{}], [{ log: { entries: 'x' } }], [[]]])('are none in %j', (value) =>
    expect(fromArchive(value, 9)).toEqual({ requests: [], left: 0 }),
  );

  it('lie beside records, the newest last', async () => {
    for (const [name, seconds] of [
      ['a', 30],
      ['b', 10],
      ['c', 20],
    ] as const) {
      const file = path.join(folder, `${name}.request.json`);
      await writeFile(file, JSON.stringify(chat(name)));
      await utimes(file, seconds, seconds);
      await writeFile(path.join(folder, `${name}.json`), '{}');
    }
    expect(promptsOf(await readRecorded(folder, 2))).toMatchObject([chatOf('c'), chatOf('a')]);
    const file = path.join(folder, 'all.har');
    await writeFile(file, JSON.stringify(archive(entry(chat('x')))));
    expect(promptsOf(await readRecorded(file, 2))).toMatchObject([chatOf('x')]);
  });
});
