/** A conversation that was changed for the template is named, in whole answers, streams and dry runs of every dialect. */
import { describe, expect, it } from 'vitest';
import { done, started, text } from '../support/http/scripted-engine.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const folds = ['system=moved', 'turns=merged'];
const begun = { ...started(), folds };
const messages = [{ role: 'user', content: 'Hi' }];

describe.each([
  ['/v1/chat/completions', { messages }],
  ['/v1/messages', { messages, max_tokens: 9 }],
  ['/v1/responses', { input: 'Hi' }],
])('%s', (path, fields) => {
  it('names what was changed in X-Svc-Rewritten', async () => {
    service.engine.plays(
      [begun, text('a'), done()],
      [begun, text('a'), done()],
      [started(), text('a'), done()],
    );
    const ask = (more: object = {}) => service.client.post(path, { model: 'default', ...fields, ...more });
    expect((await ask()).headers['x-svc-rewritten']).toBe('system=moved, turns=merged');
    expect((await ask({ stream: true })).headers['x-svc-rewritten']).toBe('system=moved, turns=merged');
    expect((await ask()).headers['x-svc-rewritten']).toBeUndefined();
  });
});

it('names it beside lines that were taken out', async () => {
  const system = { role: 'system', content: 'x-request-id: 17\nBe kind.' };
  for (const stream of [false, true]) {
    service.engine.plays([begun, text('a'), done()]);
    const reply = await service.client.chat({ messages: [system, ...messages], stream });
    expect(reply.headers['x-svc-rewritten']).toBe('x-request-id=dropped, system=moved, turns=merged');
  }
});
