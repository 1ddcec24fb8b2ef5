/** The flight recorder over HTTP: stages of each request, text only on demand, never a key. */
import { describe, expect, it } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { answer, queued, started, text, done } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const key = 'sk-never-recorded';
const canary = 'a-word-of-the-prompt';
const messages = [{ role: 'user', content: canary }];
const service = scriptedService({ apiKey: key });
const recording = scriptedService({ apiKey: key, record: 'text' });

/** The recorder is told when the response is over, which is after its reader has it. */
async function recorded(of: typeof service, id: string) {
  for (;;) {
    const { body } = await of.client.get('/svc/requests');
    const found = body.data.find((view: { request_id: string }) => view.request_id === id);
    if (found !== undefined) return found;
  }
}

describe('the recorded requests', () => {
  it('have stages, tokens and names, and no text', async () => {
    service.engine.plays([queued(1), queued(1, `loading model ${installed.chat}`), ...answer('a', 'b')]);
    const headers = { 'x-request-id': 'one', 'x-svc-client-id': 'editor' };
    await service.client.chat({ messages }, headers);
    expect(await recorded(service, 'one')).toMatchObject({
      number: expect.any(Number),
      method: 'POST',
      route: '/v1/chat/completions',
      stream: false,
      status: 200,
      model: installed.chat,
      client_name: 'editor',
      queue_ms: expect.any(Number),
      load_ms: expect.any(Number),
      first_ms: expect.any(Number),
      prefill_ms: 4,
      decode_ms: 2,
      prompt_tokens: 7,
      cached_tokens: 3,
      completion_tokens: 2,
      finish_reason: 'stop',
      has_text: false,
    });
    const detail = await service.client.get('/svc/requests/one');
    expect(detail.body).not.toHaveProperty('text');
    const all = (await service.client.get('/svc/requests')).text;
    expect(all).not.toContain(canary);
    expect(all).not.toContain('/svc/requests"');
    expect((await service.client.get('/svc/requests/nobody')).body.code).toBe('request_not_found');
  });

  it('tell of an answer that was stopped what was heard of it', async () => {
    service.engine.plays([
      started(),
      text('a'),
      text('b'),
      fail('worker_hung', { model: 'm', reason: 'silent' }),
    ]);
    await (await service.client.streamChat({ messages }, { 'x-request-id': 'broken' })).all();
    expect(await recorded(service, 'broken')).toMatchObject({
      error: 'worker_hung',
      first_ms: expect.any(Number),
      decode_ms: expect.any(Number),
      prompt_tokens: expect.any(Number),
      cached_tokens: expect.any(Number),
      completion_tokens: 2,
    });
  });

  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox'],
    ['Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36', 'Chrome'],
    ['Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0', 'Edge'],
    ['Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15', 'Safari'],
    ['Mozilla/5.0 (compatible)', 'browser'],
    ['OpenAI/Python 2.1.0', 'OpenAI'],
  ])('name the program of %s as %s', async (agent, name) => {
    const id = `by-${name}`;
    await service.client.get('/v1/models', { 'user-agent': agent, 'x-request-id': id });
    expect(await recorded(service, id)).toMatchObject({ client_name: name });
  });

  it('need the key', async () => {
    for (const path of ['/svc/requests', '/svc/requests/1', '/svc/requests.har'])
      expect((await service.client.get(path, { authorization: '' })).status).toBe(401);
  });

  it('hold what was said when SVC_RECORD=text asks for it, of whole answers and streams, and never the key', async () => {
    recording.engine.plays(answer('said ', 'aloud'), [started(), text('said '), text('in a stream'), done()]);
    await recording.client.chat({ messages }, { 'x-request-id': 'whole' });
    await (await recording.client.streamChat({ messages }, { 'x-request-id': 'stream' })).all();
    expect((await recorded(recording, 'whole')).has_text).toBe(true);
    expect((await recorded(recording, 'stream')).stream).toBe(true);
    const whole = (await recording.client.get('/svc/requests/whole')).body;
    expect(JSON.parse(whole.text.request.body).messages).toEqual(messages);
    expect(JSON.parse(whole.text.response.body).choices[0].message.content).toBe('said aloud');
    const stream = (await recording.client.get('/svc/requests/stream')).body;
    expect(stream.text.response.body).toMatch(/in a stream.*data: \[DONE\]\n\n$/s);
    const { text: archive, body: har } = await recording.client.get('/svc/requests.har');
    expect(archive).not.toContain(key);
    expect(har.log).toMatchObject({ version: '1.2', creator: { name: 'hearth' } });
    expect(har.log.entries[0]).toMatchObject({
      request: { method: 'POST', postData: { mimeType: 'application/json' } },
      response: { status: 200, content: { mimeType: expect.stringContaining('application/json') } },
      timings: { send: 0 },
    });
    const { recording: sign } = (await recording.client.get('/svc/engine')).body;
    expect(sign.text_until_ms).toBeGreaterThan(Date.now());
  });
});
