/** The unmodified `@anthropic-ai/sdk` package. */
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { template } from '../support/templates.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { type ServiceProcess, startService } from '../support/process/service-process.ts';
import { started, text } from '../support/http/scripted-engine.ts';
import { startScripted } from '../support/http/scripted-service.ts';
import { verifies } from '../contract/requirements.ts';
import { type Target, targets } from './targets.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];
const short = { model: 'default', messages, max_tokens: 8, temperature: 0 };
const open = (baseURL: string) =>
  new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ''), apiKey: 'sk-whatever', maxRetries: 0 });

describe.each(targets)('@anthropic-ai/sdk against %s', (_, start) => {
  let target: Target;
  let anthropic: Anthropic;
  beforeAll(async () => {
    target = await start();
    anthropic = open(target.baseURL);
  });
  afterAll(() => target.close());

  it('gets a message', async () => {
    const { data, request_id } = await anthropic.messages.create(short).withResponse();
    verifies(['messages.route', 'messages.message'], () => {
      expect(data.content[0]?.type).toMatch(/^(text|thinking)$/);
      expect(['end_turn', 'max_tokens']).toContain(data.stop_reason);
    });
    verifies('messages.request-id', () => expect(request_id).toMatch(/^req_/));
    expect(data.usage.output_tokens).toBeGreaterThan(0);
  });

  it('streams the same message through its helper', async () => {
    const whole = await anthropic.messages.create(short);
    const stream = anthropic.messages.stream(short);
    const deltas: string[] = [];
    stream.on('text', (delta) => deltas.push(delta));
    const final = await stream.finalMessage();
    const said = final.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    verifies(['messages.events', 'messages.deltas'], () => {
      expect(final.content).toEqual(whole.content);
      expect(deltas.join('')).toBe(said);
    });
    verifies('messages.delta-usage', () => expect(final.usage.output_tokens).toBe(whole.usage.output_tokens));
  });

  it('lists the models with the names and times that it shows', async () => {
    const { data, has_more } = await anthropic.models.list();
    const [first] = data;
    expect(first).toMatchObject({ type: 'model', display_name: first?.id, capabilities: null });
    expect([has_more, Number.isNaN(Date.parse(first?.created_at ?? ''))]).toEqual([false, false]);
    expect(await anthropic.models.retrieve(first?.id ?? '')).toEqual(first);
  });

  it('is told what is wrong by classes of its own', async () => {
    const unknown = anthropic.messages.create({ ...short, model: 'nobody' });
    await expect(unknown).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    const bad = anthropic.messages.create({ ...short, max_tokens: 0 });
    await expect(bad).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
  });
});

describe('a stream that fails midway', () => {
  it('is an error to the client, not a short message', async () => {
    const service = await startScripted();
    try {
      service.engine.plays([
        started(),
        text('Hel'),
        fail('worker_crashed', { model: 'm', reason: 'it ended' }),
      ]);
      const stream = open(service.url).messages.stream(short);
      await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError);
    } finally {
      await service.close();
    }
  });
});

describe.each(['envelope', 'hermes'] as const)('tools with the %s format', (format) => {
  let service: ServiceProcess;
  let anthropic: Anthropic;
  beforeAll(async () => {
    service = await startService(format === 'hermes' ? { chatTemplate: template('hermes') } : {});
    anthropic = open(service.url);
  });
  afterAll(() => service.close());

  const weather = {
    name: 'get_weather',
    description: 'Weather.',
    input_schema: {
      type: 'object' as const,
      properties: { city: { type: 'string' as const, maxLength: 12 } },
      required: ['city'] as const,
      additionalProperties: false,
    },
  };
  const plain = { ...weather, input_schema: { ...weather.input_schema, required: ['city'] } };
  const ask = () => ({ model: service.model, max_tokens: 300, temperature: 0.7, messages });

  it('counts the tokens that the message then has', async () => {
    const counted = await anthropic.messages.countTokens({
      model: service.model,
      messages,
      tools: [plain],
    });
    const { usage } = await anthropic.messages.create({
      ...ask(),
      max_tokens: 1,
      tools: [plain],
    });
    const { input_tokens, cache_read_input_tokens } = usage;
    verifies(['count-tokens.route', 'messages.usage'], () =>
      expect(counted.input_tokens).toBe(input_tokens + (cache_read_input_tokens ?? 0)),
    );
  });

  it('reads what it has already read from the cache, and says so', async () => {
    const system = 'You are brief. '.repeat(40);
    const first = await anthropic.messages.create({ ...ask(), system, max_tokens: 1 });
    const second = await anthropic.messages.create({ ...ask(), system, max_tokens: 1 });
    const total = ({ usage }: Anthropic.Message) => usage.input_tokens + (usage.cache_read_input_tokens ?? 0);
    verifies('messages.usage', () => {
      expect(total(second)).toBe(total(first));
      expect(second.usage.cache_read_input_tokens).toBeGreaterThan(second.usage.input_tokens);
    });
  });

  it('runs a tool loop by hand, streamed, to its end', async () => {
    const history: Anthropic.MessageParam[] = [...messages];
    for (let step = 0; step < 3; step += 1) {
      const stream = anthropic.messages.stream({
        ...ask(),
        messages: history,
        tools: [plain],
        tool_choice: step < 2 ? { type: 'any' } : { type: 'none' },
      });
      const answer = await stream.finalMessage();
      history.push({ role: 'assistant', content: answer.content });
      const uses = answer.content.filter((block) => block.type === 'tool_use');
      if (step === 2) {
        expect(answer.stop_reason).not.toBe('tool_use');
        continue;
      }
      verifies(['messages.tool-use', 'messages.tool-choice'], () => {
        expect(answer.stop_reason).toBe('tool_use');
        expect(uses.length).toBeGreaterThan(0);
        for (const { input } of uses) expect(input).toEqual({ city: expect.any(String) });
      });
      const results = uses.map(({ id }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: 'sunny',
      }));
      history.push({ role: 'user', content: results.toReversed() });
    }
  });

  it.each([false, true])(
    'lets its tool runner go on until it is told to stop (streamed: %s)',
    async (stream) => {
      const seen: unknown[] = [];
      const runner = anthropic.beta.messages.toolRunner({
        ...ask(),
        stream,
        tool_choice: { type: 'any' },
        max_iterations: 2,
        tools: [
          betaTool({
            name: weather.name,
            description: weather.description,
            inputSchema: weather.input_schema,
            run: (input) => {
              seen.push(input);
              return 'sunny';
            },
          }),
        ],
      });
      const last = await runner.runUntilDone();
      verifies(['messages.tool-use', 'messages.tool-result'], () => {
        expect(last.stop_reason).toBe('tool_use');
        expect(seen.length).toBeGreaterThan(0);
        for (const input of seen) expect(input).toEqual({ city: expect.any(String) });
      });
    },
  );
});
