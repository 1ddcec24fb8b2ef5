/** The unmodified `ollama` package, which finds the models here and is told where to ask them. */
import { Ollama } from 'ollama';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Target, targets } from './targets.ts';

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
    expect((await client.version()).version).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('is told which route or command to use instead', async () => {
    const message = { role: 'user', content: 'Hi' };
    await expect(client.chat({ model: 'default', messages: [message] })).rejects.toThrow(
      'There is no route POST /api/chat; use POST /v1/chat/completions.',
    );
    await expect(client.embed({ model: 'default', input: 'x' })).rejects.toThrow('use POST /v1/embeddings');
    await expect(client.pull({ model: 'llama3.2' })).rejects.toThrow('use the command hearth pull');
    await expect(client.push({ model: 'x' })).rejects.toThrow('/openapi.json list the routes');
  });
});
