/** The named events of POST /v1/messages, exactly. */
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/job-event.ts';
import { fail } from '../../../src/lib/errors/svc-error.ts';
import { namedEvents } from '../../support/http/named-events.ts';
import { done, gate, queued, type Script, started, text } from '../../support/http/scripted-engine.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';
import { verifies } from '../requirements.ts';

const service = scriptedService();
const path = '/v1/messages';
const tool = { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } };
const call = (city: string): JobEvent[] => [
  { type: 'tool_call', name: 'weather' },
  { type: 'tool_arguments', text: '{"city":' },
  { type: 'tool_arguments', text: `"${city}"}` },
];

async function stream(script: Script, fields: object = {}) {
  service.engine.plays(script);
  const messages = [{ role: 'user', content: 'Hello' }];
  const { text: body, headers } = await service.client.post(path, {
    model: 'default',
    max_tokens: 64,
    messages,
    stream: true,
    ...fields,
  });
  expect(headers['content-type']).toMatch(/^text\/event-stream/);
  return namedEvents(path, body);
}

describe('a stream', () => {
  it('is a message, its blocks and its end, in this order', async () => {
    const events = await stream(
      [
        queued(1),
        started(),
        { type: 'reasoning', text: 'hm' },
        text('Lo'),
        text('ok'),
        ...call('Oslo'),
        ...call('Rome'),
        done('tool_calls', 21),
      ],
      { tools: [tool] },
    );
    verifies(['messages.events', 'messages.event-names'], () =>
      expect(events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`))).toEqual([
        'message_start',
        'ping',
        'content_block_start 0',
        'content_block_delta 0',
        'content_block_delta 0',
        'content_block_stop 0',
        'content_block_start 1',
        'content_block_delta 1',
        'content_block_delta 1',
        'content_block_stop 1',
        'content_block_start 2',
        'content_block_delta 2',
        'content_block_delta 2',
        'content_block_stop 2',
        'content_block_start 3',
        'content_block_delta 3',
        'content_block_delta 3',
        'content_block_stop 3',
        'message_delta',
        'message_stop',
      ]),
    );
    verifies('messages.start', () =>
      expect(events[0]).toMatchObject({
        message: {
          role: 'assistant',
          content: [],
          stop_reason: null,
          usage: { input_tokens: 7, output_tokens: 0 },
        },
      }),
    );
    const deltas = events.filter(({ type }) => type === 'content_block_delta').map(({ delta }) => delta);
    const pieces = deltas
      .filter(({ type }) => type === 'input_json_delta')
      .map((delta) => delta.partial_json);
    verifies('messages.deltas', () => {
      expect(deltas.slice(0, 4)).toEqual([
        { type: 'thinking_delta', thinking: 'hm' },
        { type: 'signature_delta', signature: expect.stringMatching(/^.{44}$/) },
        { type: 'text_delta', text: 'Lo' },
        { type: 'text_delta', text: 'ok' },
      ]);
      expect(pieces.join('')).toBe('{"city":"Oslo"}{"city":"Rome"}');
    });
    verifies('messages.delta-usage', () =>
      expect(events.at(-2)).toMatchObject({
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { input_tokens: 4, cache_read_input_tokens: 3, output_tokens: 21 },
      }),
    );
  });

  it('without a word is a message without blocks', async () => {
    const events = await stream([started(), done('stop', 0)]);
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      'message_delta',
      'message_stop',
    ]);
  });

  it('that fails before it begins is refused', async () => {
    service.engine.plays([fail('context_length_exceeded', { promptTokens: 99, numCtx: 64 })]);
    const { status, body } = await service.client.post(path, {
      model: 'default',
      max_tokens: 5,
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', code: 'context_length_exceeded' });
    expect(body.error.message).toMatch(/^prompt is too long: 99 tokens > 64 maximum\. /);
  });

  it('that fails midway ends with an event, and with a transfer that is cut', async () => {
    const { opened, open } = gate();
    service.engine.plays([
      started(),
      text('Hel'),
      opened,
      fail('worker_crashed', { model: 'tiny-chat', reason: 'it was ended' }),
    ]);
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'default',
        max_tokens: 5,
        stream: true,
        messages: [{ role: 'user', content: 'x' }],
      }),
    });
    open();
    let received = '';
    let isCut = false;
    try {
      for await (const chunk of response.body ?? []) received += Buffer.from(chunk).toString();
    } catch {
      isCut = true;
    }
    const last = namedEvents(path, received).at(-1);
    verifies('messages.stream-error', () => {
      expect(isCut).toBe(true);
      expect(last).toMatchObject({
        type: 'error',
        error: { type: 'overloaded_error', code: 'worker_crashed' },
      });
    });
  });
});
