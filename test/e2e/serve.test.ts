/** `hearth serve` as a user starts it: an empty home, the built-in models, llama.cpp. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadIdentity } from '../../src/trust/identity/instance.ts';
import { HttpClient } from '../support/http/http-client.ts';
import { freePort } from '../support/process/free-port.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { tinyModels } from '../support/tiny-models.ts';
import { verifies } from '../contract/requirements.ts';

let installation: Installation;
let served: Served;

beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve();
});
afterAll(() => installation.remove());

/** Tries again as long as nobody listens. */
async function firstAnswer<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!String((error as Error).cause ?? error).includes('ECONNREFUSED')) throw error;
    }
  }
}

describe('hearth serve on an empty home', () => {
  it('prints one line on stdout, with the URL and a request that works as it stands', async () => {
    const lines = served.stdout.split('\n').filter((line) => line !== '');
    expect(lines).toHaveLength(1);
    const [, url, path, body] = /ready at (\S+) .* curl \1(\S+) .* -d '(.+)'$/.exec(lines[0] ?? '') ?? [];
    expect(url).toBe(served.url);
    const { status, body: answer } = await served.client.post(path ?? '', JSON.parse(body ?? ''));
    expect(status).toBe(200);
    expect(answer.choices[0].message.content).toMatch(/\S/);
    expect(answer.usage.completion_tokens).toBeGreaterThan(0);
  });

  it('makes a request that comes before its models are there wait for them', async () => {
    const port = await freePort();
    const client = new HttpClient(`http://127.0.0.1:${port}`);
    const starting = installation.serve({ ...installation.anotherHome(), SVC_PORT: String(port) });
    const { body } = await firstAnswer(() => client.get('/v1/models'));
    expect(body.data).toHaveLength(2);
    const early = await starting;
    early.signal('SIGTERM');
    expect(await early.ended()).toBe(0);
  });

  it('logs JSON lines on stderr, and nothing else', () => {
    const lines = served.stderr.split('\n').filter((each) => each !== '');
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('msg');
  });

  it('has a chat and an embedding model of its own', async () => {
    const { data } = (await served.client.get('/v1/models')).body;
    const kinds = data.map((model: { kind: string; owned_by: string }) => [model.kind, model.owned_by]);
    verifies(['models.data', 'model.owned-by'], () =>
      expect(kinds.toSorted()).toEqual([
        ['chat', 'hearth'],
        ['embedding', 'hearth'],
      ]),
    );
    const identity = (await served.client.get('/v1/identity')).body;
    const chatModel = data.find(({ kind }: { kind: string }) => kind === 'chat');
    verifies('identity.default-model', () => expect(identity.default_model).toBe(chatModel.id));
  });

  it('streams what it would answer whole', async () => {
    const fields = { temperature: 0, max_tokens: 12 };
    const whole = (await served.client.chat(fields)).body;
    const { text, done, chunks } = await (await served.client.streamChat(fields)).all();
    verifies(['stream.text', 'post-chat.stream'], () => {
      expect(text).toMatch(/\S/);
      expect(text).toBe(whole.choices[0].message.content);
    });
    verifies('stream.done', () => expect(done).toBe(true));
    expect(chunks.at(-1)?.choices[0]?.svc_finish_reason).toBe(whole.choices[0].finish_reason);
  });

  it('ends an answer at its token limit and says so', async () => {
    const messages = [{ role: 'user', content: 'Talk forever.' }];
    // Greedy: sampled, a small model sometimes ends within five tokens by itself.
    const { body } = await served.client.chat({ messages, temperature: 0, max_tokens: 5 });
    expect(body.choices[0].finish_reason).toBe('length');
    verifies(['chat.max-tokens', 'options.mapping'], () => expect(body.usage.completion_tokens).toBe(5));
  });

  it('honours a window, and refuses a prompt that does not fit with both numbers', async () => {
    const small = await served.client.chat({ num_ctx: 512, max_tokens: 2 });
    verifies('chat.num-ctx', () => expect(small.headers['x-svc-num-ctx']).toBe('512'));
    const messages = [{ role: 'user', content: 'word '.repeat(3000) }];
    const { status, body } = await served.client.chat({ messages, num_ctx: 512 });
    verifies('errors.400', () => expect([status, body.code]).toEqual([400, 'context_length_exceeded']));
    expect(body.error).toMatch(/prompt is \d{4,} tokens.* 512 tokens/);
    // The built-in model was trained on fewer tokens than these.
    expect(body.error).toContain('Shorten the prompt; the model takes at most 1024.');
  });

  it('explains a request as docs/structured-output.md shows it', async () => {
    const shown = /## Dry run[^]+?```json\n([^]+?)```/.exec(
      readFileSync('docs/structured-output.md', 'utf8'),
    )?.[1];
    const response = await fetch(`${served.url}/v1/chat/completions?svc_dry_run=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'default',
        messages: [{ role: 'user', content: 'Hello' }],
        temperature: 0.2,
        seed: 7,
        max_tokens: 64,
      }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    // What is cached, loaded and free depends on what ran before and on the machine.
    const { cached_tokens, slot, would_load, planned_bytes } = body;
    expect(body).toEqual({ ...JSON.parse(shown ?? ''), cached_tokens, slot, would_load, planned_bytes });
  });

  it.each([1, 2, 7])('survives a window of %d', async (numCtx) => {
    const { status } = await served.client.chat({ num_ctx: numCtx });
    expect([200, 400]).toContain(status);
  });

  it('embeds: 768 numbers of length one, equal alone and in a list', async () => {
    const alone = await served.client.embed({ input: 'The hearth is warm.' });
    const list = await served.client.embed({
      input: ['A cat.', 'The hearth is warm.', 'A longer text about a dog.'],
    });
    verifies(['embeddings.backend-header', 'service.native'], () =>
      expect(alone.headers['x-svc-embed-backend']).toBe('native'),
    );
    expect(list.headers['x-svc-embedding-space']).toBe(alone.headers['x-svc-embedding-space']);
    const [vector] = alone.body.data;
    verifies(['embeddings.width', 'limits.width'], () => expect(vector.embedding).toHaveLength(768));
    expect(Math.hypot(...vector.embedding)).toBeCloseTo(1, 5);
    const inList = list.body.data[1].embedding as number[];
    const apart = inList.map((value, i) => value - vector.embedding[i]);
    expect(Math.hypot(...apart)).toBeLessThan(1e-5);
    expect(list.body.data[0].embedding).not.toEqual(vector.embedding);
    expect((await served.client.embed({ input: 'The hearth is warm.' })).body).toEqual(alone.body);
  });

  it('embeds apart what is sent at once under one request id', async () => {
    const inputs = ['A cat.', 'The hearth is warm.', 'A longer text about a dog.', 'Rain.'];
    const vectorsUnder = async (id: (index: number) => string) => {
      const replies = await Promise.all(
        inputs.map((input, index) => served.client.embed({ input }, { 'x-request-id': id(index) })),
      );
      return replies.map(({ status, body }) => [status, body.data?.[0].embedding]);
    };
    const apart = await vectorsUnder((index) => `id-${index}`);
    expect(await vectorsUnder(() => 'one-id')).toEqual(apart);
  });

  it('completes plain text', async () => {
    const { status, body } = await served.client.post('/v1/completions', {
      model: 'default',
      prompt: 'Once upon a time',
      max_tokens: 4,
    });
    expect(status).toBe(200);
    const [{ text, finish_reason }] = body.choices;
    expect(text).not.toBe('');
    // Four tokens unless it ended by itself.
    expect(finish_reason).toBe(body.usage.completion_tokens === 4 ? 'length' : 'stop');
  });

  it('keeps native code out of its own process, and needs no other daemon', async () => {
    await served.client.chat({ max_tokens: 1 });
    const workers = await served.workers();
    verifies('service.native', () => {
      expect(workers.length).toBeGreaterThan(0);
      expect(workers).not.toContain(served.pid);
    });
    // Only Linux lets anybody look.
    if (!existsSync('/proc/self/maps')) return;
    expect(readFileSync(`/proc/${served.pid}/maps`, 'utf8')).not.toMatch(/llama|ggml/);
    for (const worker of workers) {
      verifies('service.native', () => expect(readFileSync(`/proc/${worker}/maps`, 'utf8')).toMatch(/llama/));
      expect(readFileSync(`/proc/${worker}/status`, 'utf8')).toContain(`PPid:\t${served.pid}\n`);
    }
  });

  it('binds itself to the bytes it runs, as anybody can recompute', async () => {
    const { body } = await served.client.get('/v1/identity');
    verifies(['identity.server-source', 'get-identity.notes'], () =>
      expect(body.server_source_sha256).toBe(sha256OfList(path.join(installation.folder, 'dist'))),
    );
    verifies('identity.backend', () => expect(body.backend_sha256).toMatch(/^[0-9a-f]{64}$/));
    expect(body.native_ready).toBe(true);
  });
});

describe('a model of the user', () => {
  const file = () => path.join(installation.folder, 'tiny-chat.gguf');
  beforeAll(() => copyFile(tinyModels.chat, file()));

  it('is served as soon as it is imported, and gone as soon as it is removed', async () => {
    const imported = await installation.run(['import', file(), '--id', 'mine/tiny:q4']);
    expect([imported.code, imported.stderr]).toEqual([0, expect.any(String)]);
    const { status, body } = await served.client.chat({ model: 'mine/tiny:q4', max_tokens: 2 });
    verifies('chat.model', () => expect([status, body.model]).toEqual([200, 'mine/tiny:q4']));
    expect((await served.client.get('/v1/models/mine/tiny:q4')).body.owned_by).toBe('local');
    const listed = await installation.run(['list', '--json']);
    expect(JSON.parse(listed.stdout).map(({ id }: { id: string }) => id)).toContain('mine/tiny:q4');
    expect((await installation.run(['rm', 'mine/tiny:q4'])).code).toBe(0);
    expect((await served.client.chat({ model: 'mine/tiny:q4' })).status).toBe(404);
    expect(existsSync(file())).toBe(true);
  });

  it('is in the registry and the store of this home, and routed, loaded and unloaded here', async () => {
    await installation.run(['import', file(), '--id', 'owned']);
    const { stdout } = await installation.run(['list', '--json']);
    const registered = JSON.parse(stdout).map(({ id }: { id: string }) => id);
    const answers = [
      await served.client.chat({ model: 'owned', max_tokens: 1 }),
      await served.client.chat({ model: 'default', max_tokens: 1 }),
    ];
    const loaded = async (): Promise<string[]> =>
      (await served.client.get('/svc/residency')).body.data.map(({ id }: { id: string }) => id);
    const before = await loaded();
    await served.client.post('/svc/unload', { model: 'owned' });
    const after = await loaded();
    const identity = (await served.client.get('/v1/identity')).body;
    const own = await loadIdentity({ home: installation.home });
    const digest = createHash('sha256').update(readFileSync(file())).digest('hex');
    const folder = path.join(installation.home, 'store', 'manifests');
    const manifests = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'));
    verifies('service.owns-everything', () => {
      expect(identity.instance_id).toBe(own.instanceId);
      expect(registered).toContain('owned');
      expect(manifests.filter((manifest) => manifest.includes(digest))).toHaveLength(1);
      expect(answers.map(({ body }) => body.model)).toEqual(['owned', identity.default_model]);
      expect([before.includes('owned'), after.includes('owned')]).toEqual([true, false]);
    });
    await installation.run(['rm', 'owned']);
  });

  it('has the names that other processes give it and take from it, with the next request', async () => {
    const known = async () => {
      const { status } = await served.client.get('/v1/models/nick');
      const { body } = await served.client.get('/v1/models');
      return [status, body.data.map(({ id }: { id: string }) => id).includes('named')];
    };
    expect(await known()).toEqual([404, false]);
    await installation.run(['import', file(), '--id', 'named']);
    expect(await known()).toEqual([404, true]);
    await installation.run(['cp', 'named', 'nick']);
    expect(await known()).toEqual([200, true]);
    await installation.run(['rm', 'nick']);
    expect(await known()).toEqual([404, true]);
    await installation.run(['rm', 'named']);
    expect(await known()).toEqual([404, false]);
  });

  it('that is no model is refused with the reason', async () => {
    const { code, stderr, stdout } = await installation.run([
      'import',
      path.join(installation.folder, 'package.json'),
    ]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/not a usable GGUF|cannot be used as a model/);
  });
});

describe('the port of a running service', () => {
  it('is named as taken by this very instance', async () => {
    const { code, stdout, stderr } = await installation.run(['serve'], { SVC_PORT: served.port });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`this instance is already running at 127.0.0.1:${served.port}`);
  });

  it('is named as taken by this very instance, also when it asks for a key', async () => {
    const home = installation.anotherHome();
    const locked = await installation.serve({ ...home, SVC_API_KEY: 'locked' });
    const { code, stderr } = await installation.run(['serve'], { ...home, SVC_PORT: locked.port });
    expect(code).toBe(1);
    expect(stderr).toContain(`this instance is already running at 127.0.0.1:${locked.port}`);
    locked.signal('SIGTERM');
    expect(await locked.ended()).toBe(0);
  });

  it('is named as taken by another instance', async () => {
    const other = path.join(installation.folder, 'other-home');
    const { code, stderr } = await installation.run(['serve'], { SVC_PORT: served.port, SVC_HOME: other });
    expect(code).toBe(1);
    expect(stderr).toMatch(/taken by another Hearth \(instance svc-\w+\); choose another with --port/);
  });
});

describe('the home of a running service', () => {
  it('is not served twice, and the process that has it is named', async () => {
    const { code, stdout, stderr } = await installation.run(['serve'], { SVC_PORT: '0' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`process ${served.pid}`);
  });
});

describe('a home whose store cannot be tidied up', () => {
  it('ends the server with the reason, and is free again', async () => {
    const settings = installation.anotherHome();
    const home = settings['SVC_HOME'] ?? '';
    // A folder where the file of an old download should be.
    const odd = path.join(home, 'store', 'partial', 'sha256-0.part');
    mkdirSync(odd, { recursive: true });
    utimesSync(odd, 0, 0);
    const { code, stdout, stderr } = await installation.run(['serve'], { ...settings, SVC_PORT: '0' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(odd);
    expect(existsSync(path.join(home, 'serve.lock'))).toBe(false);
  });
});

/** As `cd dist && find * -type f | LC_ALL=C sort | xargs sha256sum`, sorted, hashed again. */
function sha256OfList(folder: string): string {
  const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith('.'));
  const lines = names.map((name) => `${sha256(readFileSync(path.join(folder, name)))}  ${name}\n`);
  return sha256(
    lines
      .map((line) => Buffer.from(line))
      .sort((a, b) => Buffer.compare(a, b))
      .join(''),
  );
}
