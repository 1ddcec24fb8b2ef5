/** A supervised llama-server with eyes: images that go in by every dialect, and a model beside it that has none. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpClient } from '../support/http/http-client.ts';
import { hearth } from '../support/process/hearth.ts';
import { type ServiceProcess, startService } from '../support/process/service-process.ts';
import { IMAGE_TOKENS, writeTinyProjector } from '../../tools/models/tiny-projector.ts';

const { HEARTH_LLAMA_SERVER: program } = process.env;

/** Eight by eight red pixels. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC';
const url = `data:image/png;base64,${PNG}`;
const words = { type: 'text', text: 'Look at this: ' };
const shown = { type: 'image_url', image_url: { url } };
const asked = (...content: object[]) => ({ messages: [{ role: 'user', content }], max_tokens: 4 });

describe.skipIf(program === undefined)('images', () => {
  let service: ServiceProcess;
  let client: HttpClient;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-images-'));
    const projector = path.join(folder, 'projector.gguf');
    await writeTinyProjector(projector);
    service = await startService();
    client = new HttpClient(service.url);
    await add('eyes', '--mmproj', projector);
    await add('blind');
  });

  afterAll(async () => {
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function add(name: string, ...more: string[]): Promise<void> {
    const start = [program ?? '', '-m', '{model}', '--host', '127.0.0.1', '--port', '{port}', '--jinja'];
    const args = [
      'engine',
      'add',
      name,
      '--model',
      service.model,
      '--',
      ...start,
      '-c',
      '2048',
      '-t',
      '1',
      ...more,
    ];
    const settings = { SVC_HOME: service.home, SVC_PORT: new URL(service.url).port };
    const { code, stderr } = await hearth(args, settings);
    expect(code, stderr).toBe(0);
  }

  it('are counted with the prompt, each for itself', async () => {
    const model = `eyes/${service.model}`;
    const tokens = async (...images: object[]): Promise<number> => {
      const { status, body } = await client.chat({ model, ...asked(words, ...images) });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.choices[0].message.content).not.toBe('');
      return body.usage.prompt_tokens;
    };
    const [none, one, two] = [await tokens(), await tokens(shown), await tokens(shown, shown)];
    expect(one - none).toBeGreaterThanOrEqual(IMAGE_TOKENS);
    expect(two - one).toBe(one - none);
  });

  it('are streamed about', async () => {
    const said = await (
      await client.streamChat({ model: `eyes/${service.model}`, ...asked(words, shown) })
    ).all();
    expect(said).toMatchObject({ done: true, complete: true });
    expect(said.text).not.toBe('');
  });

  it('come by the other dialects too', async () => {
    const model = `eyes/${service.model}`;
    const source = { type: 'base64', media_type: 'image/png', data: PNG };
    const message = await client.post('/v1/messages', { model, ...asked(words, { type: 'image', source }) });
    expect(message.status, JSON.stringify(message.body)).toBe(200);
    const { input_tokens, cache_read_input_tokens } = message.body.usage;
    expect(input_tokens + cache_read_input_tokens).toBeGreaterThan(IMAGE_TOKENS);
    const content = [
      { type: 'input_text', text: words.text },
      { type: 'input_image', image_url: url },
    ];
    const input = [{ role: 'user', content }];
    const response = await client.post('/v1/responses', { model, input, max_output_tokens: 4 });
    expect(response.status, JSON.stringify(response.body)).toBe(200);
    expect(response.body.usage.input_tokens).toBeGreaterThan(IMAGE_TOKENS);
  });

  it('that are none are a 400 in the words of the engine', async () => {
    const broken = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const { status, body } = await client.chat({ model: `eyes/${service.model}`, ...asked(words, broken) });
    expect([status, body.code]).toEqual([400, 'upstream_refused']);
    expect(body.error).toContain('eyes');
  });

  it.each(['blind/shape-test', 'shape-test'])('are a 400 that names the part at %s', async (model) => {
    const { status, body } = await client.chat({ model, ...asked(words, shown) });
    expect([status, body.param]).toEqual([400, 'messages[0].content[1]']);
    expect(body.error).toContain('messages[0].content[1]');
  });

  it('are told by the list of models', async () => {
    const { body } = await client.get('/v1/models');
    const list = body.data as { readonly id: string; readonly capabilities: readonly string[] }[];
    const seeing = list.filter(({ capabilities }) => capabilities.includes('vision'));
    expect(seeing.map(({ id }) => id)).toEqual([`eyes/${service.model}`]);
  });
});

it.skipIf(program !== undefined)('images are not tried: set HEARTH_LLAMA_SERVER to its path', () => {
  expect(program).toBeUndefined();
});
