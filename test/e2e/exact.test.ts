/** A model with exact=on over HTTP: equal answers alone and in company, requests that ask for it, and records from its slots. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvidenceService, outputOf, statementOf } from '../support/records/evidence-service.ts';

let service: EvidenceService;
beforeAll(async () => {
  service = await EvidenceService.create({ exact: { contextLength: 1024 }, usual: { contextLength: 1024 } });
  await service.start();
  expect(await service.cli(['set', 'exact', 'exact=on'])).toMatchObject({ code: 0 });
});
afterAll(() => service.remove());

const request = (content: string, fields: object = {}): object => ({
  model: 'exact',
  messages: [{ role: 'user', content }],
  max_tokens: 12,
  logprobs: true,
  top_logprobs: 5,
  svc_exact: true,
  ...fields,
});
const asked = async (fields: object): Promise<string> => {
  const { status, body, bytes } = await service.post(fields);
  expect(status, bytes.toString()).toBe(200);
  return JSON.stringify(body.choices);
};

describe('a model with exact=on', () => {
  it.each([
    ['greedy', { temperature: 0 }],
    ['drawn without a seed', { temperature: 1.2 }],
    ['several choices', { temperature: 1, n: 3 }],
  ])('answers the same request the same way: %s', async (_, fields) => {
    const one = request('Count on forever, and tell me of the sea and the boats.', fields);
    const alone = await asked(one);
    const company = ['forever', 'the old clock', 'a stone pier'].map((text) => asked(request(text)));
    expect(await Promise.all([asked(one), ...company]).then(([again]) => again)).toBe(alone);
    expect(await service.killWorkers()).toBeGreaterThan(0);
    expect(await asked(one)).toBe(alone);
  });

  it('draws other answers for other seeds, and each choice by itself', async () => {
    const drawn = await Promise.all(
      [1, 2, 3].map((seed) => asked(request('forever', { temperature: 2, seed }))),
    );
    expect(new Set(drawn).size).toBe(3);
    const { body } = await service.post(request('forever', { temperature: 2, n: 3, logprobs: false }));
    expect(
      new Set(body.choices.map(({ message }: { message: unknown }) => JSON.stringify(message))).size,
    ).toBe(3);
  });

  it('is what a request can ask for, and be refused with the command', async () => {
    const { status, body } = await service.post(request('hi', { model: 'usual' }));
    expect(status).toBe(400);
    expect(body.code).toBe('not_exact');
    expect(JSON.stringify(body)).toContain('hearth set usual exact=on');
    expect((await service.post(request('hi', { model: 'usual', svc_exact: false }))).status).toBe(200);
  });
});

describe('hearth exact', () => {
  it('compares every answer with its lone cold run, and says what it compared', async () => {
    const { code, stdout } = await service.cli(['exact', 'usual', '--json', '--within', '3600']);
    const { requests, situations, left } = JSON.parse(stdout);
    expect([code, requests, left]).toEqual([0, 4, []]);
    const counts = situations.map(({ equal, compared }: { equal: number; compared: number }) => [
      equal,
      compared,
    ]);
    expect(counts).toEqual([8, 4, 4, 4, 3].map((count) => [count, count]));
    for (const { cachedTokens } of situations) expect(cachedTokens).toBeGreaterThan(0);
    const { stdout: text } = await service.cli(['exact', 'usual', '--within', '3600']);
    expect(text).toContain('23 of 23 answers of usual are equal bit for bit.');
    expect(text).toContain('hearth set usual exact=on');
  });

  it('proves nothing without time', async () => {
    const { code, stderr } = await service.cli(['exact', 'usual', '--within', '0']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing was compared within 0 s')]);
  });

  it('refuses settings that no exact load can have', async () => {
    await service.cli(['set', 'usual', 'kv_type=q8_0']);
    const { code, stderr } = await service.cli(['exact', 'usual']);
    await service.cli(['set', 'usual', 'kv_type=']);
    expect(code).toBe(1);
    expect(stderr).toContain('kv_type is q8_0, which needs flash attention');
  });
});

describe('a record from a slot of an exact model', () => {
  const body = (content: string): object => ({
    model: 'exact',
    messages: [{ role: 'user', content }],
    max_tokens: 16,
  });
  const words = 'the sea is calm and a small boat waits for morning '.repeat(8);

  it('is the same several at a time, from the cache and after a kill, says its lane, and replays', async () => {
    const lone = await service.freeze(body(`${words}forever`));
    const { exec } = statementOf(lone).predicate;
    expect(exec).toMatchObject({
      lane: 'exact',
      kv: 'shared',
      prefix_reuse: true,
      repack: false,
      flash_attn: false,
    });
    const together = await Promise.all(
      ['forever', 'a', 'b', 'forever'].map((end) => service.freeze(body(words + end))),
    );
    expect([together[0], together[3]].map((reply) => reply && outputOf(reply))).toEqual([
      outputOf(lone),
      outputOf(lone),
    ]);
    await service.killWorkers();
    const { reply, args } = await service.saveFrozen('exact', body(`${words}forever`));
    expect(outputOf(reply)).toBe(outputOf(lone));
    const replayed = await service.cli([...args, '--replay', '--json']);
    expect(replayed.stdout).toContain('"verdict": "verified"');
    expect(replayed.code).toBe(0);
    expect((await service.cli([...args, '--cheap'])).code).toBe(0);
  });

  it('is the last event of a stream that asks for it, and verifies like that of a whole answer', async () => {
    const asked = { ...body(`${words}forever`), stream: true, svc_evidence: 'frozen-v1', seed: 5 };
    const request = await service.save('stream.request.json', JSON.stringify(asked));
    const { bytes, headers } = await service.post(JSON.stringify(asked));
    expect(headers.get('x-svc-evidence-mode')).toBe('frozen-v1');
    const events = bytes
      .toString()
      .trim()
      .split('\n\n')
      .filter((event) => event.startsWith('data: '));
    expect(events.at(-1)).toBe('data: [DONE]');
    const last = JSON.parse(events.at(-2)?.slice(6) ?? '');
    const said = events
      .slice(0, -2)
      .map((event) => JSON.parse(event.slice(6)).choices[0].delta.content ?? '');
    expect([last.object, last.choices]).toEqual(['chat.completion.chunk', []]);
    expect(last.svc_answer.choices[0].message.content).toBe(said.join(''));
    const { stream: _, ...whole } = asked;
    expect(outputOf(await service.freeze(whole))).toBe(outputOf({ status: 200, headers, bytes, body: last }));
    const stream = await service.save('stream.txt', bytes);
    const verified = await service.cli([
      'evidence',
      'verify',
      stream,
      '--request',
      request,
      '--replay',
      '--json',
    ]);
    expect(verified.stdout).toContain('"verdict": "verified"');
    const chunk = await service.save('chunk.json', last);
    expect((await service.cli(['evidence', 'verify', chunk, '--request', request])).code).toBe(0);
    last.svc_answer.choices[0].message.content += ' and more';
    const text = bytes.toString();
    const saidLie = text.replace('"delta":{"content":"', '"delta":{"content":"Volga ');
    expect(saidLie).not.toBe(text);
    const lie = await service.save('lie.txt', saidLie);
    const found = await service.cli(['evidence', 'verify', lie, '--request', request]);
    expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('say something else')]);
    const forged = await service.save('forged.json', last);
    expect((await service.cli(['evidence', 'verify', forged, '--request', request])).code).toBe(1);
  });

  it('of an ordinary model ends its stream too, and a header alone asks for none', async () => {
    const asked = { ...body('forever'), model: 'usual', stream: true };
    const proved = await service.post({ ...asked, svc_evidence: 'frozen-v1' });
    expect(proved.bytes.toString()).toContain('"svc_answer"');
    const plain = await service.freeze(asked);
    expect(plain.headers.get('x-svc-evidence-mode')).toBe('none');
    expect(plain.bytes.toString()).not.toContain('"evidence"');
  });

  it('of an ordinary model says no lane, and replays as before', async () => {
    const { reply, args } = await service.saveFrozen('usual', { ...body('forever'), model: 'usual' });
    expect(statementOf(reply).predicate.exec).toMatchObject({ kv: 'fresh', prefix_reuse: false, n_seq: 1 });
    expect(statementOf(reply).predicate.exec.lane).toBeUndefined();
    expect((await service.cli([...args, '--replay'])).code).toBe(0);
  });
});
