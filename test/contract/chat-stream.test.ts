/** POST /v1/chat/completions, answered as a stream of server-sent events. */
import { describe, expect, it } from 'vitest';
import type { ChatChunk } from '../../src/wire/inference/chat.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { hello } from '../support/http/http-client.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { answer, done, forEver, gate, queued, started, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const clock = new ManualClock(1_760_000_000_000);
const service = scriptedService({ clock });
const stream = (fields: object = {}, headers: Record<string, string> = {}) =>
  service.client.streamChat(fields, headers);
const transcript = async (fields: object = {}) => (await stream(fields)).all();
const choicesOf = (chunks: readonly ChatChunk[]) => chunks.map((chunk) => chunk.choices[0]);
const last = <T>(items: readonly T[]): T => items.at(-1) as T;

describe('a stream', () => {
  it('has this exact transcript for a request of the interface', async () => {
    service.engine.plays(answer('Good ', 'day', '.'));
    const { frames, chunks, done: terminated, complete } = await transcript();
    verifies('chat.stream', () =>
      expect(frames.map(({ kind }) => kind)).toEqual(['chunk', 'chunk', 'chunk', 'chunk', 'chunk', 'done']),
    );
    const choices = choicesOf(chunks);
    verifies('chunk.choices', () =>
      expect(choices).toEqual([
        { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
        { index: 0, delta: { content: 'Good ' }, finish_reason: null },
        { index: 0, delta: { content: 'day' }, finish_reason: null },
        { index: 0, delta: { content: '.' }, finish_reason: null },
        { index: 0, delta: {}, finish_reason: 'stop', svc_finish_reason: 'stop' },
      ]),
    );
    verifies('stream.text', () =>
      expect(choices.slice(1, -1).map((choice) => [choice?.delta.content, choice?.finish_reason])).toEqual([
        ['Good ', null],
        ['day', null],
        ['.', null],
      ]),
    );
    verifies('stream.last', () => expect(last(choices)).toMatchObject({ delta: {}, finish_reason: 'stop' }));
    verifies('chunk.object', () =>
      expect(chunks.map(({ object }) => object)).toEqual(Array(5).fill('chat.completion.chunk')),
    );
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({
        created: 1_760_000_000,
        model: installed.chat,
      });
      expect(chunk).not.toHaveProperty('usage');
    }
    expect([terminated, complete]).toEqual([true, true]);
  });

  it('is, byte for byte, data lines and nothing else', async () => {
    service.engine.plays(answer('Good ', 'day'));
    const body = JSON.stringify({ ...hello, stream: true });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${service.url}/v1/chat/completions`, { method: 'POST', body, headers });
    const lines = (await response.text()).split('\n').filter((line) => line !== '');
    verifies(['stream.lines', 'events.unnamed'], () => {
      expect(lines).toHaveLength(5);
      for (const line of lines.slice(0, -1)) {
        expect(line).toMatch(/^data: \{/);
        expect(JSON.parse(line.slice('data: '.length)).object).toBe('chat.completion.chunk');
      }
    });
    verifies('stream.done', () => expect(last(lines)).toBe('data: [DONE]'));
  });

  it('is the only answer with events, whatever a client accepts', async () => {
    const accept = { accept: 'text/event-stream' };
    const others = [
      await service.client.get('/health', accept),
      await service.client.get('/v1/identity', accept),
      await service.client.get('/v1/models', accept),
      await service.client.embed({ input: 'x' }, accept),
      await service.client.chat({}, accept),
    ];
    const open = await stream();
    verifies('events.only-chat-stream', () => {
      expect(others.map(({ status }) => status)).toEqual(Array(5).fill(200));
      for (const { headers } of others) expect(headers['content-type']).toMatch(/^application\/json/);
      expect(open.headers['content-type']).toMatch(/^text\/event-stream/);
    });
    await open.all();
  });

  it('has a head that proxies and clients understand', async () => {
    const { headers, all } = await bound(stream());
    verifies('post-chat.stream', () =>
      expect(headers['content-type']).toBe('text/event-stream; charset=utf-8'),
    );
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['x-accel-buffering']).toBe('no');
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['content-length']).toBeUndefined();
    verifies(['service.bound', 'endpoints.bound'], () => {
      expect(headers['x-svc-instance-id']).toBe(service.instanceId);
      expect(headers['x-svc-boot-id']).toBe(service.bootId);
    });
    expect(headers['x-svc-num-ctx']).toBe('4096');
    await all();
  });

  it('has ids of the form of the interface that differ within a second', async () => {
    const ids = new Set<string>();
    for (let count = 0; count < 5; count += 1) {
      const [chunk] = (await transcript()).chunks;
      verifies('chunk.id', () => expect(chunk?.id).toMatch(/^chatcmpl-svc-1760000000[0-9a-f]{12}$/));
      ids.add(chunk?.id ?? '');
    }
    expect(ids.size).toBe(5);
  });

  it('carries any Unicode unharmed, in lines of their own', async () => {
    const pieces = ['a\nb', '\r\n', 'data: [DONE]', '\u2028', '👩‍👩‍👧', '\u0000"\\'];
    service.engine.plays(answer(...pieces));
    expect((await transcript()).text).toBe(pieces.join(''));
  });

  it('ends with usage in a chunk without choices, and only when asked', async () => {
    const { chunks } = await transcript({ stream_options: { include_usage: true } });
    const { id, usage, choices } = last(chunks);
    expect(chunks.filter((chunk) => 'usage' in chunk)).toEqual([last(chunks)]);
    expect([id, choices]).toEqual([chunks[0]?.id, []]);
    expect(usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    for (const stream_options of [{ include_usage: false }, {}, null]) {
      const { chunks: without } = await transcript({ stream_options });
      expect(without.some((chunk) => 'usage' in chunk)).toBe(false);
    }
  });

  it('has a choice in every chunk for a request of the interface', async () => {
    const { chunks } = await transcript();
    expect(chunks.map(({ choices }) => choices.length)).toEqual(chunks.map(() => 1));
  });

  it('tells its speed with the finish reason', async () => {
    const { chunks } = await transcript();
    expect(chunks.filter((chunk) => 'timings' in chunk)).toEqual([last(chunks)]);
    expect(last(chunks).timings).toMatchObject({ prompt_ms: 4, predicted_ms: 2, predicted_per_second: 1500 });
  });

  it('sends its head and first chunk before the prompt is evaluated', async () => {
    const prefill = gate();
    service.engine.plays([started(), prefill.opened, text('x'), done()]);
    const open = await stream();
    const first = await open.next();
    expect(first).toMatchObject({ kind: 'chunk', chunk: { choices: [{ delta: { role: 'assistant' } }] } });
    prefill.open();
    expect((await open.all()).text).toBe('x');
  });

  it('separates thinking from the answer', async () => {
    service.engine.plays([started(), { type: 'reasoning', text: 'hm' }, text('yes'), done()]);
    const deltas = choicesOf((await transcript()).chunks).map((choice) => choice?.delta);
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { content: 'yes' },
      {},
    ]);
  });

  it('carries a tool call in pieces, the name first and once', async () => {
    service.engine.plays([
      started(),
      { type: 'tool_call', name: 'weather' },
      { type: 'tool_arguments', text: '{"city":' },
      { type: 'tool_arguments', text: '"Oslo"}' },
      done('tool_calls'),
    ]);
    const tools = [{ name: 'weather', parameters: { properties: { city: { type: 'string' } } } }];
    const choices = choicesOf((await transcript({ tools })).chunks);
    const [role, first, ...rest] = choices.map((choice) => choice?.delta);
    const id = expect.stringMatching(/^call_[0-9a-f]{24}$/);
    expect([role, first]).toEqual([
      { role: 'assistant', content: '' },
      { tool_calls: [{ index: 0, id, type: 'function', function: { name: 'weather', arguments: '' } }] },
    ]);
    expect(rest.pop()).toEqual({});
    const pieces = rest.map((delta) => delta?.tool_calls?.[0]);
    expect(pieces.every((piece) => piece?.index === 0 && piece.id === undefined)).toBe(true);
    expect(pieces.map((piece) => piece?.function.arguments).join('')).toBe('{"city":"Oslo"}');
    expect(last(choices)).toMatchObject({ finish_reason: 'tool_calls', svc_finish_reason: 'tool_calls' });
  });

  it('mixes the chunks of n answers by their index and ends once', async () => {
    service.engine.plays(answer('a'), answer('b'));
    const { chunks, frames } = await transcript({ n: 2, stream_options: { include_usage: true } });
    for (const index of [0, 1]) {
      const own = chunks.filter((chunk) => chunk.choices[0]?.index === index);
      expect(own).toHaveLength(3);
      expect(last(own).choices[0]?.finish_reason).toBe('stop');
    }
    expect(frames.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    expect(last(chunks).usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 2 });
  });

  it('names the fields that had no effect in its head', async () => {
    const { headers, all } = await bound(stream({ store: true }));
    expect(headers['x-svc-ignored-params']).toBe('store');
    await all();
  });

  it('does without frozen evidence and says so, whatever header asks for it', async () => {
    const { headers, all } = await bound(stream({}, { 'x-svc-evidence-mode': 'frozen-v1' }));
    const { chunks, done: terminated } = await all();
    verifies(['post-chat.evidence-mode', 'limits.frozen'], () => {
      expect(headers['x-svc-evidence-mode']).toBe('none');
      expect([terminated, chunks.some((chunk) => 'evidence' in chunk)]).toEqual([true, false]);
    });
  });
});

describe('the finish reason of a stream', () => {
  it.each([
    ['stop', {}, 'stop'],
    ['length', {}, 'stop'],
    ['length', { temperature: 0, max_tokens: 1, num_predict: 1, num_ctx: 64, tools: [] }, 'stop'],
    ['length', { stream_options: null, seed: null }, 'stop'],
    ['length', { stream_options: { include_usage: true } }, 'length'],
    ['length', { max_completion_tokens: 1 }, 'length'],
    ['length', { seed: 1 }, 'length'],
    ['length', { user: 'u' }, 'length'],
    ['stop', { seed: 1 }, 'stop'],
  ] as const)('for %s with %j is %s', async (truth, fields, wire) => {
    service.engine.plays([started(), text('x'), done(truth)]);
    const choice = last((await transcript(fields)).chunks.filter(({ choices }) => choices.length > 0))
      .choices[0];
    verifies(['stream.last', 'chunk.choices'], () =>
      expect(choice).toEqual({ index: 0, delta: {}, finish_reason: wire, svc_finish_reason: truth }),
    );
  });
});

describe('a stream that has to wait', () => {
  it('is told its place in comments, once its head has left', async () => {
    const slot = gate();
    service.engine.plays([queued(2, 'a model is loading'), slot.opened, ...answer('x')]);
    const opening = stream();
    const { submission } = await service.engine.nextJob();
    expect(submission.job.kind).toBe('generate');
    await clock.advance(3000);
    const open = await opening;
    expect(await open.next()).toEqual({ kind: 'comment', comment: 'queued 2: a model is loading' });
    slot.open();
    const { comments, text: whole } = await open.all();
    expect([comments.length, whole]).toEqual([1, 'x']);
    // The window is not known when the head leaves early.
    expect(open.headers['x-svc-num-ctx']).toBeUndefined();
  });

  it('gets a comment every fifteen seconds of silence', async () => {
    const slow = gate();
    service.engine.plays([started(), text('a'), slow.opened, text('b'), done()]);
    const open = await stream();
    await open.firstText();
    await clock.advance(14_999);
    await clock.advance(1);
    expect(await open.next()).toEqual({ kind: 'comment', comment: 'ping' });
    await clock.advance(15_000);
    expect(await open.next()).toEqual({ kind: 'comment', comment: 'ping' });
    slow.open();
    const { comments, text: whole } = await open.all();
    expect([comments, whole]).toEqual([['ping', 'ping'], 'ab']);
  });

  it('cannot be made to say anything else by a reason with line breaks', async () => {
    const slot = gate();
    service.engine.plays([queued(1, 'x\n\ndata: [DONE]\r\n\r\n'), slot.opened, ...answer('x')]);
    const opening = stream();
    await service.engine.nextJob();
    await clock.advance(3000);
    slot.open();
    const { comments } = await (await opening).all();
    expect(comments).toEqual(['queued 1: x data: [DONE] ']);
  });
});

describe('a stream that fails', () => {
  const crash = () => fail('worker_crashed', { model: 'tiny-chat', reason: 'signal SIGKILL' });

  it('before it has started is an ordinary error', async () => {
    service.engine.plays([queued(1), crash()]);
    const { status, headers, body } = await service.client.chat({ stream: true });
    expect([status, body.code]).toEqual([503, 'worker_crashed']);
    expect(headers['content-type']).toMatch(/^application\/json/);
  });

  it.each([
    ['before its first text', [started(), crash()], ''],
    ['in the middle', [started(), text('Good '), text('d'), crash()], 'Good d'],
  ])('%s ends with an error frame, without [DONE], in a transfer that was cut', async (_, steps, sent) => {
    service.engine.plays(steps);
    const { error, done: terminated, complete, text: whole, chunks } = await transcript();
    expect(error).toMatchObject({ code: 'worker_crashed', type: 'unavailable_error' });
    expect(error?.error).toContain('send the request again.');
    expect([terminated, complete, whole]).toEqual([false, false, sent]);
    expect(chunks.every((chunk) => chunk.choices[0]?.finish_reason === null)).toBe(true);
  });

  it('while it waits with its head gone ends the same way', async () => {
    const slot = gate();
    service.engine.plays([queued(1), slot.opened, fail('queue_full', { limit: 1, retryAfterS: 1 })]);
    const opening = stream();
    await service.engine.nextJob();
    await clock.advance(3000);
    const open = await opening;
    slot.open();
    const { error, complete } = await open.all();
    expect([error?.code, complete]).toEqual(['queue_full', false]);
  });

  it('by a bug says nothing of the inside, and logs it', async () => {
    service.engine.plays([started(), new TypeError('secret inside of the program')]);
    const { error, complete } = await transcript();
    expect([error?.code, complete]).toEqual(['internal', false]);
    expect(JSON.stringify(error)).not.toContain('secret');
    expect(service.log()).toContain('secret inside of the program');
  });

  it('that ends without a done event is a failure, not a complete answer', async () => {
    service.engine.plays([started(), text('half')]);
    const { error, done: terminated } = await transcript();
    expect([error?.code, terminated]).toEqual(['internal', false]);
  });

  it('in one of n answers stops the others', async () => {
    service.engine.plays([started(), crash()], [started(), text('b'), forEver()]);
    const before = service.engine.played.length;
    const { error } = await transcript({ n: 2 });
    expect(error?.code).toBe('worker_crashed');
    expect(await service.engine.played[before + 1]?.ended).toBe('aborted');
  });

  it('leaves the next request unharmed', async () => {
    service.engine.plays([started(), crash()], answer('well'));
    await transcript();
    expect((await transcript()).text).toBe('well');
  });
});

/** The head of a stream and the way to read the rest. */
async function bound(opening: ReturnType<typeof stream>) {
  const open = await opening;
  return { headers: open.headers, all: () => open.all() };
}
