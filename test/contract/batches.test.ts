/** What the batch API refuses, keeps apart, and goes on with; test/conformance/ has what it answers. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { addKey, removeKey } from '../../src/store/keys/key-file.ts';
import type { Batch } from '../../src/wire/batches.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { answer, forEver, gate, type Script } from '../support/http/scripted-engine.ts';
import { type ScriptedOptions, scriptedService, startScripted } from '../support/http/scripted-service.ts';

const ENDPOINT = '/v1/chat/completions';
const body = { model: 'default', messages: [{ role: 'user', content: 'Hi' }] };
const line = (customId: string, over: object = {}) => ({
  custom_id: customId,
  method: 'POST',
  url: ENDPOINT,
  body,
  ...over,
});

const service = scriptedService();

/** One owner of files and batches. */
class Owner {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key = 'none') {
    this.#url = url;
    this.#key = key;
  }

  async ask(method: string, at: string, sent?: FormData | object) {
    const isForm = sent instanceof FormData;
    const answered = await fetch(this.#url + at, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(sent === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(sent === undefined ? {} : { body: isForm ? sent : JSON.stringify(sent) }),
    });
    const text = await answered.text();
    const json = answered.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: answered.status, text, body: json ? JSON.parse(text) : null };
  }

  send(lines: readonly (object | string)[], fields: Readonly<Record<string, string>> = { purpose: 'batch' }) {
    const form = new FormData();
    const text = lines.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');
    form.append('file', new Blob([text]), 'in.jsonl');
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    return this.ask('POST', '/v1/files', form);
  }

  async begin(lines: readonly (object | string)[], over: object = {}): Promise<Batch> {
    const { id } = (await this.send(lines)).body;
    const created = await this.ask('POST', '/v1/batches', {
      input_file_id: id,
      endpoint: ENDPOINT,
      completion_window: '24h',
      ...over,
    });
    expect([created.status, created.body.status]).toEqual([200, 'validating']);
    return created.body;
  }

  async now(id: string): Promise<Batch> {
    return (await this.ask('GET', `/v1/batches/${id}`)).body;
  }

  async until(id: string, ...states: Batch['status'][]): Promise<Batch> {
    for (;;) {
      const batch = await this.now(id);
      if (states.includes(batch.status)) return batch;
      await new Promise(setImmediate);
    }
  }

  async linesOf(id: string | null): Promise<Record<string, never>[]> {
    const { text } = await this.ask('GET', `/v1/files/${id}/content`);
    return text
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each));
  }
}

const anyone = () => new Owner(service.url);

async function started(options: ScriptedOptions = {}) {
  const other = await startScripted(options);
  onTestFinished(() => other.close());
  return other;
}

describe('a file', () => {
  it.each([
    [
      'another purpose',
      () => anyone().send([line('a')], { purpose: 'assistants' }),
      400,
      'purpose must be batch',
    ],
    ['no purpose', () => anyone().send([line('a')], {}), 400, 'purpose must be batch'],
    [
      'a time that is no time',
      () => anyone().send([line('a')], { purpose: 'batch', 'expires_after[seconds]': '1' }),
      400,
      'expires_after[seconds] must be a whole number',
    ],
    ['no form', () => anyone().ask('POST', '/v1/files', { purpose: 'batch' }), 415, 'multipart/form-data'],
    [
      'no file in the form',
      () => {
        const form = new FormData();
        form.append('purpose', 'batch');
        return anyone().ask('POST', '/v1/files', form);
      },
      400,
      'the part file is missing',
    ],
    [
      'more parts than it has',
      () =>
        anyone().send(
          [line('a')],
          Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}`, 'x'])),
        ),
      400,
      'more parts than are read',
    ],
  ])('with %s is refused, and nothing of it is kept', async (_, send, status, words) => {
    const before = await anyone().ask('GET', '/v1/files');
    const refused = await send();
    expect([refused.status, refused.body.error.message]).toEqual([status, expect.stringContaining(words)]);
    expect((await anyone().ask('GET', '/v1/files')).body).toEqual(before.body);
    const left = await readdir(path.join(service.home, 'batches', 'files'));
    expect(left.filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('on another route stays an unsupported type', async () => {
    const form = new FormData();
    form.append('model', 'default');
    expect((await anyone().ask('POST', ENDPOINT, form)).status).toBe(415);
  });

  it('has bounds: one file, all of an owner, and their number', async () => {
    const small = await started({ batchLimits: { fileBytes: 100, ownerBytes: 150, ownerFiles: 3 } });
    const owner = new Owner(small.url);
    expect((await owner.send(['x'.repeat(101)])).body.error.code).toBe('body_too_large');
    expect((await owner.send(['x'.repeat(100)])).status).toBe(200);
    expect((await owner.send(['x'.repeat(51)])).body.error.code).toBe('files_full');
    for (const [status] of [[200], [200], [409]]) expect((await owner.send(['x'])).status).toBe(status);
  });

  it.each([
    ['their number', { ownerFiles: 3 }, 'x', 3],
    ['their size', { ownerBytes: 150 }, 'x'.repeat(40), 3],
    ['the number of all', { files: 2 }, 'x', 2],
    ['the size of all', { bytes: 100 }, 'x'.repeat(40), 2],
  ])('is bounded in %s even if all come at once', async (_, batchLimits, text, kept) => {
    const owner = new Owner((await started({ batchLimits })).url);
    const sent = await Promise.all(Array.from({ length: 8 }, () => owner.send([text])));
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(kept);
    expect(sent.filter(({ body }) => body.error?.code === 'files_full')).toHaveLength(8 - kept);
    expect((await owner.send([text])).status).toBe(409);
  });

  it('that was refused or given up takes no room', async () => {
    const owner = new Owner((await started({ batchLimits: { fileBytes: 100, ownerFiles: 1 } })).url);
    for (let refused = 0; refused < 3; refused += 1) {
      expect((await owner.send(['x'.repeat(101)])).body.error.code).toBe('body_too_large');
      expect((await owner.send(['x'], { purpose: 'other' })).status).toBe(400);
    }
    expect((await owner.send(['x'])).status).toBe(200);
  });

  it('that a batch reads is not removed; afterwards it is', async () => {
    const { engine } = service;
    engine.plays([forEver()]);
    const job = engine.nextJob();
    const batch = await anyone().begin([line('a')]);
    // What is not played now would be played to another test.
    await job;
    const refused = await anyone().ask('DELETE', `/v1/files/${batch.input_file_id}`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'file_in_use']);
    await anyone().ask('POST', `/v1/batches/${batch.id}/cancel`);
    await anyone().until(batch.id, 'cancelled');
    expect((await anyone().ask('DELETE', `/v1/files/${batch.input_file_id}`)).status).toBe(200);
  });

  it('goes when its time is over, unless a batch needs it', async () => {
    const clock = new ManualClock();
    const other = await started({ clock });
    const owner = new Owner(other.url);
    const { id } = (await owner.send([line('a')], { purpose: 'batch', 'expires_after[seconds]': '3600' }))
      .body;
    await clock.advance(3_599_000);
    expect((await owner.ask('GET', `/v1/files/${id}`)).status).toBe(200);
    await clock.advance(3_601_000);
    const gone = async () => (await owner.ask('GET', `/v1/files/${id}`)).status === 404;
    while (!(await gone())) await new Promise(setImmediate);
    expect(await readdir(path.join(other.home, 'batches', 'files'))).toEqual([]);
  });
});

describe('a batch', () => {
  it.each([
    ['no lines', [], 'no lines'],
    ['a line that is no JSON', ['{'], 'Line 1: it is not usable JSON'],
    ['a line that is no object', ['[]'], 'Line 1: it must be a JSON object.'],
    [
      'a line without a name',
      [line('a'), { ...line('b'), custom_id: undefined }],
      'Line 2: custom_id must be',
    ],
    ['a name that was used before', [line('a'), line('a')], 'Line 2: its custom_id was used before'],
    ['another method', [line('a', { method: 'GET' })], 'Line 1: method must be POST.'],
    ['another endpoint', [line('a', { url: '/v1/embeddings' })], `Line 1: url must be ${ENDPOINT}`],
    ['a line without a body', [line('a', { body: 'x' })], 'Line 1: body must be an object'],
  ])('of a file with %s fails, and says where', async (_, lines, words) => {
    const { id } = await anyone().begin(lines);
    const { errors, status, output_file_id } = await anyone().until(id, 'failed', 'completed');
    expect([status, output_file_id]).toEqual(['failed', null]);
    expect(errors?.data[0]?.message).toContain(words);
  });

  it('of too many or too long lines fails', async () => {
    const small = await started({ batchLimits: { lines: 2 }, maxBodyBytes: 1_000 });
    const owner = new Owner(small.url);
    const many = await owner.begin(['a', 'b', 'c'].map((name) => line(name)));
    expect((await owner.until(many.id, 'failed')).errors?.data[0]?.message).toContain('more than 2 lines');
    const long = await owner.begin([line('x'.repeat(1_000))]);
    expect((await owner.until(long.id, 'failed')).errors?.data[0]?.message).toContain(
      'longer than 1000 bytes',
    );
  });

  it.each([
    ['a file that is not there', { input_file_id: 'file-x' }, 404, 'There is no file "file-x"'],
    ['another endpoint', { endpoint: '/v1/rerank' }, 400, 'endpoint must be one of'],
    ['a window without end', { completion_window: '-1h' }, 400, 'completion_window must be a duration'],
    ['a window of nothing', { completion_window: '1s' }, 400, 'completion_window must be a duration'],
  ])('with %s is refused', async (_, over, status, words) => {
    const { id } = (await anyone().send([line('a')])).body;
    const asked = { input_file_id: id, endpoint: ENDPOINT, completion_window: '24h', ...over };
    const refused = await anyone().ask('POST', '/v1/batches', asked);
    expect([refused.status, refused.body.error.message]).toEqual([status, expect.stringContaining(words)]);
  });

  it('tells what the endpoint would refuse, in its words', async () => {
    const { id } = await anyone().begin([
      line('stream', { body: { ...body, stream: true } }),
      line('wrong', { body: { ...body, temperature: 'hot' } }),
    ]);
    const batch = await anyone().until(id, 'completed');
    expect(batch.request_counts).toEqual({ total: 2, completed: 0, failed: 2 });
    const lines = await anyone().linesOf(batch.error_file_id);
    expect(lines.map((each) => each['response']?.['body']?.['error']?.['param'])).toEqual(
      expect.arrayContaining(['stream', 'temperature']),
    );
  });

  it('asks again for a line that gave way to others or met a busy engine, and not for one that fails twice', async () => {
    const clock = new ManualClock();
    const other = await started({ clock });
    const crashed = () => [fail('worker_crashed', { model: 'm', reason: 'killed' })];
    other.engine.plays(
      [fail('cancelled')],
      [fail('queue_full', { limit: 1, retryAfterS: 5 })],
      answer('Hello'),
    );
    const owner = new Owner(other.url);
    const one = await owner.begin([line('a')]);
    while ((await owner.now(one.id)).status !== 'completed') await clock.advance(1_000);
    expect(other.engine.played.map(({ submission }) => submission.isBackground)).toEqual([true, true, true]);
    other.engine.plays(crashed(), crashed());
    const two = await owner.begin([line('b')]);
    while ((await owner.now(two.id)).status !== 'completed') await clock.advance(1_000);
    expect((await owner.now(two.id)).request_counts).toEqual({ total: 1, completed: 0, failed: 1 });
  });

  it('keeps what was answered when it is cancelled, and cannot be cancelled twice', async () => {
    const { engine } = service;
    const { opened, open } = gate();
    // Which of them comes first is nobody's business.
    const script: Script = ({ job }) =>
      JSON.stringify(job).includes('never') ? [opened, forEver()] : answer('done');
    engine.plays(script, script);
    const never = { ...body, messages: [{ role: 'user', content: 'never' }] };
    const { id } = await anyone().begin([line('a'), line('b', { body: never })]);
    for (;;) {
      if ((await anyone().now(id)).request_counts.completed === 1) break;
      await new Promise(setImmediate);
    }
    open();
    expect((await anyone().ask('POST', `/v1/batches/${id}/cancel`)).status).toBe(200);
    const batch = await anyone().until(id, 'cancelled');
    expect((await anyone().linesOf(batch.output_file_id)).map((each) => each['custom_id'])).toEqual(['a']);
    const again = await anyone().ask('POST', `/v1/batches/${id}/cancel`);
    expect([again.status, again.body.error.message]).toEqual([
      400,
      expect.stringContaining('is cancelled and cannot'),
    ]);
  });

  it('tells of each line that was not answered within its window', async () => {
    const clock = new ManualClock();
    const other = await started({ clock });
    other.engine.plays([forEver()], [forEver()]);
    const owner = new Owner(other.url);
    const { id } = await owner.begin([line('a'), line('b')], { completion_window: '1m' });
    await owner.until(id, 'in_progress');
    await clock.advance(61_000);
    const batch = await owner.until(id, 'expired');
    expect(batch.request_counts).toEqual({ total: 2, completed: 0, failed: 2 });
    const lines = await owner.linesOf(batch.error_file_id);
    expect(lines.map((each) => [each['custom_id'], each['error']?.['code']])).toEqual([
      ['a', 'batch_expired'],
      ['b', 'batch_expired'],
    ]);
  });

  it('goes on at the next start where it was', async () => {
    const first = await startScripted();
    first.engine.plays(answer('one'), [forEver()]);
    const { id } = await new Owner(first.url).begin([line('a'), line('b'), line('c')]);
    for (;;) {
      // The third is answered as usual; the second never.
      if ((await new Owner(first.url).now(id)).request_counts.completed === 2) break;
      await new Promise(setImmediate);
    }
    await first.close({ keepsHome: true });
    const second = await started({ home: first.home });
    const owner = new Owner(second.url);
    const batch = await owner.until(id, 'completed');
    expect(second.engine.played).toHaveLength(1);
    const names = (await owner.linesOf(batch.output_file_id)).map((each) => String(each['custom_id']));
    expect(names.toSorted()).toEqual(['a', 'b', 'c']);
  });
});

describe('an owner', () => {
  it('sees nothing of another, and its key bounds what its lines may ask', async () => {
    const other = await started({ apiKey: 'key-of-the-service' });
    const rights = { admin: false, localOnly: false, models: ['acme/tiny-chat:q4'] };
    const { key } = await addKey(other.home, { name: 'alice', ...rights }, Date.now());
    const [alice, service_] = [new Owner(other.url, key), new Owner(other.url, 'key-of-the-service')];
    const { id } = await alice.begin([line('a')]);
    const batch = await alice.until(id, 'completed');
    const [refused] = await alice.linesOf(batch.error_file_id);
    expect(refused?.['response']?.['body']?.['error']?.['code']).toBe('key_model_refused');
    for (const at of [
      `/v1/batches/${id}`,
      `/v1/files/${batch.input_file_id}`,
      `/v1/files/${batch.error_file_id}/content`,
    ])
      expect((await service_.ask('GET', at)).status, at).toBe(404);
    expect((await service_.ask('POST', `/v1/batches/${id}/cancel`)).status).toBe(404);
    expect((await service_.ask('DELETE', `/v1/files/${batch.input_file_id}`)).status).toBe(404);
    for (const list of ['/v1/files', '/v1/batches'])
      expect((await service_.ask('GET', list)).body.data).toEqual([]);
    expect((await new Owner(other.url).ask('GET', '/v1/files')).status).toBe(401);
  });

  it('whose key is gone has nothing answered any more', async () => {
    const clock = new ManualClock();
    const other = await started({ apiKey: 'key-of-the-service', clock });
    const { key } = await addKey(other.home, { name: 'bob', admin: false, localOnly: false }, Date.now());
    const { opened, open } = gate();
    other.engine.plays(...Array.from({ length: 8 }, () => [opened, ...answer('Hello')]));
    const bob = new Owner(other.url, key);
    const names = Array.from({ length: 20 }, (_, at) => line(`${at}`));
    await bob.begin(names);
    while (other.engine.played.length < 8) await new Promise(setImmediate);
    await removeKey(other.home, 'bob');
    open();
    await Promise.all(other.engine.played.map(({ ended }) => ended));
    await clock.advance(120_000);
    expect(other.engine.played).toHaveLength(8);
  });
});
