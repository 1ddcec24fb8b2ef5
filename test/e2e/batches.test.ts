/** A batch over the end of the service by force: what was answered stays, byte for byte, and is not asked for again. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../support/process/installation.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.make();
});
afterAll(() => installation.remove());

const LINES = 120;

it('goes on after kill -9 with the lines that are left', async () => {
  const url = '/v1/embeddings';
  const text = Array.from({ length: LINES }, (_, at) =>
    JSON.stringify({
      custom_id: `line-${at}`,
      method: 'POST',
      url,
      body: {
        model: 'default-embedding',
        input: `Text number ${at} of a corpus.`,
        encoding_format: 'base64',
      },
    }),
  ).join('\n');
  let served = await installation.serve();
  const ask = async (at: string, init?: RequestInit) => (await fetch(served.url + at, init)).text();
  const form = new FormData();
  form.append('purpose', 'batch');
  form.append('file', new Blob([text]), 'corpus.jsonl');
  const file = JSON.parse(await ask('/v1/files', { method: 'POST', body: form }));
  const created = await ask('/v1/batches', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input_file_id: file.id, endpoint: url, completion_window: '1h' }),
  });
  const { id } = JSON.parse(created);
  const now = async () => JSON.parse(await ask(`/v1/batches/${id}`));
  let kills = 0;
  let before = '';
  for (let batch = await now(); batch.status !== 'completed'; batch = await now()) {
    const { completed } = batch.request_counts;
    if (kills >= 2 || completed < 20 * (kills + 1) || completed > LINES - 20) continue;
    served.signal('SIGKILL');
    await served.ended();
    const log = await readFile(path.join(served.home, 'batches', 'logs', `${id}.output.jsonl`), 'utf8');
    // Half a line may be there; it counts for nothing.
    const whole = log.slice(0, log.lastIndexOf('\n') + 1);
    expect(whole.startsWith(before)).toBe(true);
    before = whole;
    kills += 1;
    served = await installation.serve();
  }
  const { output_file_id: output, request_counts: counts } = await now();
  expect(counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
  const answers = await ask(`/v1/files/${output}/content`);
  expect(kills).toBe(2);
  expect(answers.startsWith(before)).toBe(true);
  const names = answers
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each).custom_id as string);
  expect(names).toHaveLength(LINES);
  expect(new Set(names).size).toBe(LINES);
});
