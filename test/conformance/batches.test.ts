/** Files and batches through the unmodified `openai` package. */
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Target, targets } from './targets.ts';

interface OutputLine {
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: Record<string, unknown> };
}

const linesOf = (text: string): OutputLine[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as OutputLine);

describe.each(targets)('batches of openai against %s', (_, start) => {
  let target: Target;
  let openai: OpenAI;
  beforeAll(async () => {
    target = await start();
    openai = new OpenAI({ baseURL: target.baseURL, apiKey: 'sk-whatever', maxRetries: 0 });
  });
  afterAll(() => target.close());

  const over = async (id: string): Promise<OpenAI.Batch> => {
    for (;;) {
      const batch = await openai.batches.retrieve(id);
      if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return batch;
      await new Promise(setImmediate);
    }
  };
  const sent = (requests: readonly object[]) =>
    toFile(Buffer.from(requests.map((request) => JSON.stringify(request)).join('\n')), 'requests.jsonl', {
      type: 'application/jsonl',
    });

  it.each([
    ['/v1/embeddings', { model: 'default-embedding', input: ['one', 'two'] }, 'list'],
    [
      '/v1/chat/completions',
      { model: 'default', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 4 },
      'chat.completion',
    ],
    ['/v1/completions', { model: 'default', prompt: 'Once', max_tokens: 4 }, 'text_completion'],
    ['/v1/responses', { model: 'default', input: 'Hi', max_output_tokens: 16 }, 'response'],
  ] as const)('answers the lines of a file by %s, the good and the bad ones', async (url, body, object) => {
    const line = (custom_id: string, of: object) => ({ custom_id, method: 'POST', url, body: of });
    const file = await openai.files.create({
      file: await sent([line('a', body), line('b', { ...body, model: 'nobody' }), line('c', body)]),
      purpose: 'batch',
    });
    expect([file.object, file.purpose, file.filename]).toEqual(['file', 'batch', 'requests.jsonl']);
    const created = await openai.batches.create({
      input_file_id: file.id,
      endpoint: url,
      completion_window: '24h',
      metadata: { of: 'a test' },
    });
    const batch = await over(created.id);
    expect([batch.status, batch.request_counts, batch.metadata]).toEqual([
      'completed',
      { total: 3, completed: 2, failed: 1 },
      { of: 'a test' },
    ]);
    const output = linesOf(await (await openai.files.content(batch.output_file_id ?? '')).text());
    expect(output.map(({ custom_id }) => custom_id).toSorted()).toEqual(['a', 'c']);
    for (const { response } of output)
      expect([response.status_code, response.body['object']]).toEqual([200, object]);
    const [refused] = linesOf(await (await openai.files.content(batch.error_file_id ?? '')).text());
    expect([refused?.custom_id, refused?.response.status_code]).toEqual(['b', 404]);
    expect(refused?.response.body['error']).toMatchObject({ code: 'model_not_found' });
    const listed = [];
    for await (const each of openai.batches.list({ limit: 1 })) listed.push(each.id);
    expect(listed).toContain(batch.id);
    const files = [];
    for await (const each of openai.files.list({ limit: 2 })) files.push(each.id);
    expect(files).toEqual(expect.arrayContaining([file.id, batch.output_file_id, batch.error_file_id]));
    expect(await openai.files.delete(file.id)).toMatchObject({ id: file.id, deleted: true });
    await expect(openai.files.retrieve(file.id)).rejects.toMatchObject({ status: 404, code: 'file_absent' });
  });
});
