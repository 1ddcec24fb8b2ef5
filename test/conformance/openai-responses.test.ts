/** The Responses API of the unmodified `openai` package. */
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { started, text } from '../support/http/scripted-engine.ts';
import { startScripted } from '../support/http/scripted-service.ts';
import { type ServiceProcess, startService } from '../support/process/service-process.ts';
import { template } from '../support/templates.ts';
import { verifies } from '../contract/requirements.ts';
import { type Target, targets } from './targets.ts';

const short = { model: 'default', input: 'Hello', max_output_tokens: 8, temperature: 0 };
const open = (baseURL: string) => new OpenAI({ baseURL, apiKey: 'sk-whatever', maxRetries: 0 });

describe.each(targets)('openai against %s', (_, start) => {
  let target: Target;
  let openai: OpenAI;
  beforeAll(async () => {
    target = await start();
    openai = open(target.baseURL);
  });
  afterAll(() => target.close());

  it('creates a response, reads it, continues it and deletes it', async () => {
    const first = await openai.responses.create(short);
    verifies(['responses.route', 'responses.message'], () => expect(first.output_text).toMatch(/\S/));
    const second = await openai.responses.create({ ...short, input: 'More', previous_response_id: first.id });
    const read = await openai.responses.retrieve(first.id);
    const items = await openai.responses.inputItems.list(second.id, { order: 'asc' });
    verifies(['responses.store', 'responses.previous', 'responses.input-items'], () => {
      expect(read.output).toEqual(first.output);
      expect(second.previous_response_id).toBe(first.id);
      expect(items.data.map((item) => item.type)).toEqual([
        'message',
        ...first.output.map(({ type }) => type),
        'message',
      ]);
    });
    await openai.responses.delete(first.id);
    await expect(openai.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('streams the same text through its helper', async () => {
    const whole = await openai.responses.create(short);
    const stream = openai.responses.stream(short);
    const deltas: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const final = await stream.finalResponse();
    verifies(['responses.events', 'responses.sequence'], () => {
      expect(deltas.join('')).toBe(whole.output_text);
      expect(final.output_text).toBe(whole.output_text);
      expect(final.usage?.output_tokens).toBe(whole.usage?.output_tokens);
    });
  });

  it('streams a response in the background, and reads it again', async () => {
    const stream = openai.responses.stream({ ...short, background: true });
    const final = await stream.finalResponse();
    verifies('responses.background', () => expect(final.background).toBe(true));
    expect((await openai.responses.retrieve(final.id)).output_text).toBe(final.output_text);
  });

  it('is told what is wrong by classes of its own', async () => {
    const unknown = openai.responses.create({ ...short, model: 'nobody' });
    await expect(unknown).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const bad = openai.responses.create({ ...short, background: true, store: false });
    await expect(bad).rejects.toMatchObject({ status: 400, param: 'background', code: 'invalid_request' });
  });
});

describe('a stream that fails midway', () => {
  it('is an error to the client, not a short answer', async () => {
    const service = await startScripted();
    try {
      service.engine.plays([
        started(),
        text('Hel'),
        fail('worker_crashed', { model: 'm', reason: 'it ended' }),
      ]);
      const events = await open(`${service.url}/v1`).responses.create({ ...short, stream: true });
      const seen: string[] = [];
      const read = async () => {
        for await (const { type } of events) seen.push(type);
      };
      await expect(read()).rejects.toThrow();
      expect(seen.slice(-2)).toEqual(['response.failed', 'error']);
    } finally {
      await service.close();
    }
  });
});

describe.each(['envelope', 'hermes'] as const)('tools with the %s format', (format) => {
  let service: ServiceProcess;
  let openai: OpenAI;
  beforeAll(async () => {
    service = await startService(format === 'hermes' ? { chatTemplate: template('hermes') } : {});
    openai = open(`${service.url}/v1`);
  });
  afterAll(() => service.close());

  const weather = {
    type: 'function' as const,
    name: 'get_weather',
    description: 'Weather.',
    strict: true,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 12 } },
      required: ['city'],
      additionalProperties: false,
    },
  };
  const ask = () => ({ model: service.model, max_output_tokens: 300, temperature: 0.7, seed: 11 });

  it.each([false, true])('runs a loop with tools to its end (stored: %s)', async (isStored) => {
    let history: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'How is Oslo?' }];
    let previous: string | null = null;
    for (let step = 0; step < 3; step += 1) {
      const answer: OpenAI.Responses.Response = await openai.responses
        .stream({
          ...ask(),
          input: history,
          previous_response_id: previous,
          store: isStored,
          tools: [weather],
          tool_choice: step < 2 ? 'required' : 'none',
        })
        .finalResponse();
      const calls = answer.output.filter((item) => item.type === 'function_call');
      const results = calls.map(({ call_id }) => ({
        type: 'function_call_output' as const,
        call_id,
        output: 'sunny',
      }));
      verifies(['responses.function-call', 'responses.tool-choice'], () => {
        expect(calls.length > 0).toBe(step < 2);
        for (const call of calls) expect(JSON.parse(call.arguments)).toEqual({ city: expect.any(String) });
      });
      previous = isStored ? answer.id : null;
      history = isStored
        ? results
        : [...history, ...(answer.output as OpenAI.Responses.ResponseInput), ...results];
    }
  });

  it('parses a strict schema', async () => {
    const person = z.object({ name: z.string().max(10), age: z.number().int().min(0).max(150) });
    const answer = await openai.responses.parse({
      ...ask(),
      input: 'Who?',
      text: { format: zodTextFormat(person, 'person') },
    });
    verifies('responses.format', () => expect(person.safeParse(answer.output_parsed).success).toBe(true));
  });

  it('counts the tokens that the response then has', async () => {
    const asked = { model: service.model, input: 'How is Oslo?', tools: [weather] };
    const counted = await openai.responses.inputTokens.count(asked);
    const { usage } = await openai.responses.create({ ...asked, max_output_tokens: 1 });
    verifies(['responses.input-tokens', 'responses.usage'], () =>
      expect(counted.input_tokens).toBe(usage?.input_tokens),
    );
  });
});
