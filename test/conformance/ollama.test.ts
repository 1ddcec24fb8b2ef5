/** The unmodified `ollama` package: it finds the models, chats with them and gets vectors. */
import { type ChatResponse, Ollama } from 'ollama';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { answer, done, started, text } from '../support/http/scripted-engine.ts';
import { type Target, targets } from './targets.ts';

const message = { role: 'user', content: 'Hi' };

describe.each(targets)('ollama against %s', (_, start) => {
  let target: Target;
  let client: Ollama;
  beforeAll(async () => {
    target = await start();
    client = new Ollama({ host: target.baseURL.replace(/\/v1$/, '') });
  });
  afterAll(() => target.close());

  it('lists the installed models with their facts', async () => {
    const { models } = await client.list();
    const response = await fetch(`${target.baseURL}/models`);
    const listed = (await response.json()) as { data: { id: string; size_bytes: number; digest?: string }[] };
    expect(models.map(({ name }) => name)).toEqual(listed.data.map(({ id }) => id));
    for (const [at, model] of models.entries()) {
      expect(model).toMatchObject({ model: model.name, size: listed.data[at]?.size_bytes });
      expect(`sha256:${model.digest}`).toBe(listed.data[at]?.digest ?? 'sha256:');
      expect(Date.parse(String(model.modified_at))).toBeGreaterThan(0);
      expect(model.details).toMatchObject({ format: 'gguf', families: [model.details.family] });
      expect(model.details.parameter_size).toMatch(/^[0-9.]+[KMB]$/);
      expect(model.details.quantization_level).toMatch(/\S/);
    }
  });

  it('lists what is loaded', async () => {
    const before = await client.ps();
    expect(before.models).toEqual([]);
    if (target.scripted !== null) return;
    const body = JSON.stringify({
      model: 'default',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 1,
    });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${target.baseURL}/chat/completions`, { method: 'POST', headers, body });
    const [loaded, ...others] = (await client.ps()).models;
    expect(others).toEqual([]);
    expect(loaded).toMatchObject({ name: 'hearth-mini', size_vram: 0 });
    expect(loaded?.size).toBeGreaterThan(0);
    expect(Reflect.get(loaded ?? {}, 'context_length')).toBeGreaterThan(0);
    expect(Date.parse(String(loaded?.expires_at))).toBeGreaterThan(Date.now());
  });

  it('tells its version', async () => {
    expect((await client.version()).version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('chats as a whole and as a stream, with the same words', async () => {
    const asked = { model: 'default', messages: [message], options: { temperature: 0, num_predict: 12 } };
    const whole = await client.chat(asked);
    expect(whole).toMatchObject({ done: true, message: { role: 'assistant' } });
    expect(whole.message.content).toMatch(/\S/);
    expect(whole.total_duration).toBeGreaterThanOrEqual(whole.load_duration);
    let said = '';
    let last: ChatResponse | undefined;
    for await (const part of await client.chat({ ...asked, stream: true })) {
      said += part.message.content;
      last = part;
    }
    expect(said).toBe(whole.message.content);
    expect(last).toMatchObject({ done: true, done_reason: whole.done_reason, eval_count: whole.eval_count });
  });

  it('completes a prompt, whole and as a stream', async () => {
    const asked = { model: 'default', prompt: 'Hi', system: 'Be brief.', options: { temperature: 0 } };
    const { response } = await client.generate(asked);
    expect(response).toMatch(/\S/);
    let said = '';
    for await (const part of await client.generate({ ...asked, stream: true })) said += part.response;
    expect(said).toBe(response);
  });

  it('gets an answer that fits a schema', async () => {
    const format = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    target.scripted?.engine.plays(answer('{"ok":', 'true}'));
    const { message: said } = await client.chat({ model: 'default', messages: [message], format });
    expect(JSON.parse(said.content)).toEqual({ ok: expect.any(Boolean) });
  });

  it('calls a tool and is told its result', async () => {
    const tools = [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'The weather of a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ];
    target.scripted?.engine.plays([
      started(),
      { type: 'tool_call', name: 'get_weather' },
      { type: 'tool_arguments', text: '{"city":"Oslo"}' },
      done('tool_calls'),
    ]);
    const ask = { role: 'user', content: 'What is the weather in Oslo?' };
    const { message: said } = await client.chat({ model: 'default', messages: [ask], tools });
    const calls = said.tool_calls ?? [];
    expect(calls.map(({ function: called }) => called)).toMatchObject([
      { name: 'get_weather', arguments: { city: expect.any(String) } },
    ]);
    const result = { role: 'tool', tool_name: 'get_weather', content: '7 degrees, rain' };
    const after = await client.chat({ model: 'default', messages: [ask, said, result], tools });
    expect(after.done).toBe(true);
  });

  it('gets vectors, by the new route and the old', async () => {
    const { embeddings } = await client.embed({ model: 'default-embedding', input: ['one', 'two'] });
    expect(embeddings).toHaveLength(2);
    const { embedding } = await client.embeddings({ model: 'default-embedding', prompt: 'one' });
    expect(embedding).toEqual(embeddings[0]);
  });

  it('shows a model as the list does', async () => {
    const [first] = (await client.list()).models;
    const shown = await client.show({ model: `${first?.name}:latest` });
    expect(shown.details).toEqual(first?.details);
  });

  it('loads and unloads a model', async () => {
    const loaded = await client.generate({ model: 'default', prompt: '', keep_alive: '5m' });
    expect(loaded.done_reason).toBe('load');
    const chat = { model: 'default', messages: [], keep_alive: 0 };
    expect((await client.chat(chat)).done_reason).toBe('unload');
    if (target.scripted !== null) return;
    await expect
      .poll(async () => (await client.ps()).models.map(({ name }) => name))
      .not.toContain('hearth-mini');
  });

  it('gets failures as text', async () => {
    const failure = client.chat({ model: 'nobody', messages: [message] });
    await expect(failure).rejects.toMatchObject({ status_code: 404 });
    await expect(client.chat({ model: 'nobody', messages: [message], stream: true })).rejects.toThrow(
      '"nobody"',
    );
    await expect(client.delete({ model: 'default' })).rejects.toThrow(/page|key/);
    await expect(client.create({ model: 'x', from: 'y' })).rejects.toThrow('use the command hearth import');
    await expect(client.push({ model: 'x' })).rejects.toThrow('/openapi.json list the routes');
    if (target.scripted === null) return;
    target.scripted.engine.plays([started(), text('x'), fail('internal')]);
    const read = async (): Promise<void> => {
      for await (const _ of await client.chat({ model: 'default', messages: [message], stream: true }));
    };
    await expect(read()).rejects.toThrow('Hearth failed unexpectedly');
  });
});
