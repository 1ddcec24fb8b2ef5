/** The named events of POST /v1/responses, exactly. */
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/job-event.ts';
import { fail } from '../../../src/lib/errors/svc-error.ts';
import { namedEvents } from '../../support/http/named-events.ts';
import { done, forEver, gate, type Script, started, text } from '../../support/http/scripted-engine.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';
import { verifies } from '../requirements.ts';

const service = scriptedService();
const path = '/v1/responses';
const tool = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
const patch = { type: 'custom', name: 'patch' };
const hello = { model: 'default', input: 'Hello', stream: true };
const call: JobEvent[] = [
  { type: 'tool_call', name: 'weather' },
  { type: 'tool_arguments', text: '{"city":' },
  { type: 'tool_arguments', text: '"Oslo"}' },
];

async function stream(script: Script, fields: object = {}) {
  service.engine.plays(script);
  const { text: body } = await service.client.post(path, { ...hello, ...fields });
  return namedEvents(path, body);
}

/** Reads what comes until the transfer is cut. */
async function untilCut(response: Response, onText: (received: string) => void = () => {}) {
  let received = '';
  try {
    for await (const chunk of response.body ?? []) {
      received += Buffer.from(chunk).toString();
      onText(received);
    }
  } catch {
    return { isCut: true, events: namedEvents(path, received) };
  }
  return { isCut: false, events: namedEvents(path, received) };
}

const post = (fields: object = {}, signal: AbortSignal | null = null) =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...hello, ...fields }),
    signal,
  });

describe('a stream', () => {
  it('tells of each item from its beginning to its end, in this order', async () => {
    const events = await stream(
      [
        started(),
        { type: 'reasoning', text: 'hm' },
        text('Lo'),
        text('ok'),
        ...call,
        { type: 'tool_call', name: 'patch' },
        { type: 'tool_arguments', text: '{"input":"x"}' },
        done('tool_calls'),
      ],
      { tools: [tool, patch] },
    );
    const told = events.map(({ type, output_index: at }) => {
      const name = type.replace(/^response\./, '');
      return at === undefined ? name : `${at} ${name}`;
    });
    verifies(['responses.events', 'responses.call-events'], () =>
      expect(told).toEqual([
        'created',
        'in_progress',
        '0 output_item.added',
        '0 content_part.added',
        '0 reasoning_text.delta',
        '0 reasoning_text.done',
        '0 content_part.done',
        '0 output_item.done',
        '1 output_item.added',
        '1 content_part.added',
        '1 output_text.delta',
        '1 output_text.delta',
        '1 output_text.done',
        '1 content_part.done',
        '1 output_item.done',
        '2 output_item.added',
        '2 function_call_arguments.delta',
        '2 function_call_arguments.delta',
        '2 function_call_arguments.done',
        '2 output_item.done',
        '3 output_item.added',
        '3 custom_tool_call_input.delta',
        '3 custom_tool_call_input.done',
        '3 output_item.done',
        'completed',
      ]),
    );
    verifies('responses.sequence', () =>
      expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, at) => at)),
    );
    const final = events.at(-1)?.['response'];
    const items = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    expect(final.output).toEqual(items);
    // The last word is told when the response can be asked for already.
    expect((await service.client.get(`${path}/${final.id}`)).body).toEqual(final);
  });

  it('that a limit cut is incomplete', async () => {
    const events = await stream([started(), text('a'), done('length')]);
    verifies('responses.status', () => {
      expect(events.at(-1)).toMatchObject({
        type: 'response.incomplete',
        response: { status: 'incomplete' },
      });
      expect(events.at(-2)?.['item'].status).toBe('incomplete');
    });
  });

  it('that fails midway says so in the response, then breaks off', async () => {
    const { opened, open } = gate();
    service.engine.plays([
      started(),
      text('Hel'),
      opened,
      fail('worker_crashed', { model: 'tiny-chat', reason: 'it was ended' }),
    ]);
    const response = await post();
    open();
    const { isCut, events } = await untilCut(response);
    verifies('responses.failed', () => {
      expect(isCut).toBe(true);
      expect(events.at(-2)).toMatchObject({
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'worker_crashed' } },
      });
      expect(events.at(-1)).toMatchObject({
        type: 'error',
        code: 'worker_crashed',
        sequence_number: events.length - 1,
      });
    });
  });

  it('in the background is stored as well', async () => {
    const events = await stream([started(), text('42'), done()], { background: true });
    const final = events.at(-1);
    verifies('responses.background', () => {
      expect(final).toMatchObject({ type: 'response.completed', response: { background: true } });
      expect(events[0]).toMatchObject({ type: 'response.created', response: { status: 'in_progress' } });
    });
    expect((await service.client.get(`${path}/${final?.['response'].id}`)).body).toEqual(final?.['response']);
  });

  it('in the background goes on where its client leaves', async () => {
    const { opened, open } = gate();
    service.engine.plays([started(), text('4'), opened, text('2'), done()]);
    const leave = new AbortController();
    const response = await post({ background: true }, leave.signal);
    let id = '';
    await untilCut(response, (received) => {
      [id = ''] = /resp_[0-9a-f]{48}/.exec(received) ?? [];
      if (received.includes('output_text.delta')) leave.abort();
    });
    const stored = async () => (await service.client.get(`${path}/${id}`)).body;
    const { status } = await stored();
    verifies('responses.background', () => expect(status).toBe('in_progress'));
    open();
    await expect.poll(stored).toMatchObject({ status: 'completed', output: [{ content: [{ text: '42' }] }] });
  });

  it('in the background that fails is stored as failed before it breaks off', async () => {
    service.engine.plays([
      started(),
      text('Hel'),
      fail('worker_crashed', { model: 'tiny-chat', reason: 'it was ended' }),
    ]);
    const { isCut, events } = await untilCut(await post({ background: true }));
    const failed = events.at(-2)?.['response'];
    verifies('responses.failed', () => expect([isCut, failed.error.code]).toEqual([true, 'worker_crashed']));
    expect((await service.client.get(`${path}/${failed.id}`)).body).toEqual(failed);
  });

  it('can be cancelled by its id while it runs', async () => {
    service.engine.plays([started(), text('Hel'), forEver()]);
    const next = service.engine.nextJob();
    const response = await post();
    let cancelled: ReturnType<typeof service.client.ask> | undefined;
    const ended = untilCut(response, (received) => {
      const [id] = /resp_[0-9a-f]{48}/.exec(received) ?? [];
      if (id !== undefined)
        cancelled ??= service.client.ask({ method: 'POST', path: `${path}/${id}/cancel` });
    });
    const { isCut, events } = await ended;
    const reply = await cancelled;
    verifies('responses.cancel', () => {
      expect([reply?.status, reply?.body.status]).toEqual([200, 'cancelled']);
      expect(isCut).toBe(true);
      expect(events.at(-2)).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } });
    });
    expect(await (await next).ended).toBe('aborted');
  });
});
