/** The service as a process: where it binds, how it ends, and what a dying worker costs. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/process/free-port.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { verifies } from '../contract/requirements.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.make({ trained: false });
});
afterAll(() => installation.remove());

/**
 * The tiny model never ends its turn once it has read this word. It is also very fast, so twenty alternatives per token
 * give the answer a length in time that a signal can fall into.
 */
const endless = {
  messages: [{ role: 'user', content: 'forever' }],
  max_tokens: 1900,
  logprobs: true,
  top_logprobs: 20,
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('hearth serve', () => {
  it.each([{ SVC_HOST: '0.0.0.0' }, { SVC_HOST: '::' }, { SVC_HOST: '0.0.0.0:0' }])(
    'refuses to bind %o without a key, before it listens or writes',
    async (settings) => {
      const home = path.join(installation.folder, 'never-made');
      const { code, stdout, stderr } = await installation.run(['serve'], { ...settings, SVC_HOME: home });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('SVC_API_KEY');
      expect(existsSync(home)).toBe(false);
    },
  );

  it.each([
    [['serve', '--port', 'many'], '--port must be a port'],
    [['serve', '--no-such-flag'], 'unknown option'],
    [['no-such-verb'], 'there is no verb no-such-verb'],
    [['help', 'no-such-verb'], 'there is no verb no-such-verb'],
    [['cache', 'no-such-verb'], 'there is no verb cache no-such-verb'],
    [['key', 'lst'], 'there is no verb key lst. Did you mean hearth key'],
    [['--home', 'x', 'no-such-verb', '--help'], 'there is no verb no-such-verb'],
  ])('ends %o with exit code 2 and names what is wrong', async (args, words) => {
    const { code, stdout, stderr } = await installation.run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });

  it('keeps the development endpoint apart: its own port, home and identity', async () => {
    const port = async (...flags: string[]) => {
      const { stdout } = await installation.run([...flags, 'config', '--json']);
      const rows = JSON.parse(stdout) as { name: string; value: unknown }[];
      return rows.find(({ name }) => name === 'SVC_PORT')?.value;
    };
    const ports = [await port(), await port('--dev')];
    const home = path.join(installation.folder, 'canonical');
    const canonical = await installation.serve({ SVC_HOME: home });
    const files = () => new Set(readdirSync(home, { recursive: true, encoding: 'utf8' }));
    const before = files();
    const dev = await installation.serve({ SVC_HOME: home }, ['--dev']);
    const [own, other] = await Promise.all(
      [canonical, dev].map(async ({ client }) => (await client.get('/v1/identity')).body),
    );
    expect((await dev.client.chat({ max_tokens: 1 })).status).toBe(200);
    verifies('service.dev-endpoint', () => {
      expect(ports).toEqual([8740, 8741]);
      expect(other.instance_id).not.toBe(own.instance_id);
      expect(files()).toEqual(before);
    });
    for (const each of [dev, canonical]) {
      each.signal('SIGKILL');
      await each.ended();
    }
  });
});

describe('settings that are wrong', () => {
  it('are shown by hearth config, and refused by every other verb with their line', async () => {
    const settings = installation.anotherHome();
    const home = settings['SVC_HOME'] ?? '';
    mkdirSync(home);
    const file = path.join(home, 'config.toml');
    writeFileSync(file, 'port = 9000\nbogus = 1\n');
    const shown = await installation.run(['config'], { ...settings, SVC_KEEPALIVE: '1m' });
    expect(shown.code).toBe(2);
    expect(shown.stdout).toMatch(/^SVC_PORT +9000 +file$/m);
    expect(shown.stdout).toMatch(/^SVC_NUM_THREADS +\(measured per model\) +default$/m);
    expect(shown.stdout).toContain(`config file: ${file}`);
    expect(shown.stderr).toContain(`${file}, line 2: there is no setting "bogus"`);
    expect(shown.stderr).toContain('SVC_KEEPALIVE is not a setting');
    const refused = await installation.run(['list'], settings);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`${file}, line 2`)]);
    expect((await installation.run(['config', '--path'], settings)).stdout).toBe(`${file}\n`);
  });

  it('that are automatic are shown as what they come to', async () => {
    const served = await installation.serve({ ...installation.anotherHome(), SVC_KEEPALIVE: '1m' });
    expect(served.stderr).toContain('SVC_KEEPALIVE is not a setting');
    const home = served.home;
    const { stdout } = await installation.run(['config'], { SVC_HOME: home });
    expect(stdout).toMatch(/^SVC_DEFAULT_MODEL +hearth-mini \(automatic\) +default$/m);
    expect(stdout).toMatch(/^SVC_EMBEDDING_MODEL +hearth-embed \(automatic\) +default$/m);
    served.signal('SIGTERM');
    expect(await served.ended()).toBe(0);
  });
});

describe('SIGHUP', () => {
  it('reads config.toml again and says what changed; a broken one changes nothing', async () => {
    const served = await installation.serve(installation.anotherHome());
    const configure = async (text: string, words: RegExp) => {
      writeFileSync(path.join(served.home, 'config.toml'), text);
      served.signal('SIGHUP');
      while (!words.test(served.stderr)) await served.client.get('/health');
    };
    await configure(
      'api_key = "k"\nmax_queue = 7\nnum_ctx = 512\n',
      /SIGHUP: .*changed: SVC_API_KEY, SVC_MAX_QUEUE; after a restart: SVC_NUM_CTX\./,
    );
    expect((await served.client.get('/v1/models')).status).toBe(401);
    await configure('api_key = ', /SIGHUP: nothing changes\. .*config\.toml, line 1/);
    expect((await served.client.get('/v1/models', { 'x-api-key': 'k' })).status).toBe(200);
    await configure('', /SIGHUP: .*changed: SVC_API_KEY, SVC_MAX_QUEUE\./);
    expect((await served.client.get('/v1/models')).status).toBe(200);
    served.signal('SIGTERM');
    expect(await served.ended()).toBe(0);
    const lines = served.stderr.split('\n').filter((line) => line !== '');
    const said = lines.map((line) => JSON.parse(line) as { level: string; msg: string });
    const levels = said.filter(({ msg }) => /^SIG(HUP|TERM): /.test(msg)).map(({ level }) => level);
    expect(levels).toEqual(['info', 'error', 'info', 'info']);
    const kept = readFileSync(path.join(served.home, 'logs', 'hearth.log'), 'utf8');
    expect(kept).toMatch(/"level":"error".*"msg":"SIGHUP: nothing changes\. /);
  });
});

describe('SIGTERM with the first answer of /health', () => {
  it.each([1, 2, 3])('is a drain like any other: what was accepted is answered (%d)', async () => {
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const child = installation.start(['serve'], { ...installation.anotherHome(), SVC_PORT: port });
    const ended = once(child, 'close');
    while (!(await isHealthy(url)));
    const accepted = fetch(`${url}/v1/models`);
    // Once the service knows of the request; it waits for the start to be over.
    await isHealthy(url);
    child.kill('SIGTERM');
    expect((await accepted).status).toBe(200);
    expect(await ended).toEqual([0, null]);
  });
});

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    // Nothing listens yet.
    return false;
  }
}

describe('a model that loads', () => {
  it('is given up after three times SVC_LOAD_TIMEOUT', async () => {
    // No load is that quick: the worker alone takes longer to read its orders.
    const settings = { ...installation.anotherHome(), SVC_LOAD_TIMEOUT: '1ms' };
    const served = await installation.serve(settings);
    const { status, body } = await served.client.chat({ max_tokens: 1 });
    expect([status, body.code]).toEqual([503, 'load_failed']);
    expect(body.message).toContain('the load took too long');
    served.signal('SIGTERM');
    expect(await served.ended()).toBe(0);
  });

  it('may take its time when SVC_LOAD_TIMEOUT is without end', async () => {
    const served = await installation.serve({ ...installation.anotherHome(), SVC_LOAD_TIMEOUT: '-1' });
    expect((await served.client.chat({ max_tokens: 1 })).status).toBe(200);
    served.signal('SIGTERM');
    expect(await served.ended()).toBe(0);
  });
});

/** Ends the only worker that holds a model; returns its process id. */
async function killWorker(served: Served): Promise<number> {
  const [worker, ...others] = await served.workers();
  if (worker === undefined || others.length > 0) throw new Error('there is not exactly one worker');
  process.kill(worker, 'SIGKILL');
  return worker;
}

describe('a worker that dies', () => {
  let served: Served;
  beforeAll(async () => {
    served = await installation.serve({ ...installation.anotherHome(), SVC_NUM_THREADS: '1' });
  });

  it('in the middle of a stream: an error frame, no [DONE], and the next request works in the same boot', async () => {
    const { boot_id } = (await served.client.get('/v1/identity')).body;
    const stream = await served.client.streamChat(endless);
    await stream.firstText();
    const worker = await killWorker(served);
    const { error, done, complete } = await stream.all();
    expect([error?.code, done, complete]).toEqual(['worker_crashed', false, false]);
    expect((await served.client.get('/health')).status).toBe(200);
    const next = await served.client.chat({ max_tokens: 2 });
    verifies('identity.boot-id', () =>
      expect([next.status, next.headers['x-svc-boot-id']]).toEqual([200, boot_id]),
    );
    expect(await served.workers()).not.toContain(worker);
  });

  it('in the middle of a whole answer: 503 that may be tried again', async () => {
    const answer = served.client.chat({ ...endless, n: 2 });
    let running = 0;
    while (running < 2) running = (await served.client.get('/svc/residency')).body.data[0].running;
    // A job that the worker has not begun is tried again without a word; a stream that came later shows that it has.
    const stream = await served.client.streamChat(endless);
    await stream.firstText();
    await killWorker(served);
    expect((await stream.all()).error?.code).toBe('worker_crashed');
    const { status, headers, body } = await answer;
    expect([status, body.code]).toEqual([503, 'worker_crashed']);
    expect(headers['retry-after']).toMatch(/^\d+$/);
    expect((await served.client.chat({ max_tokens: 1 })).status).toBe(200);
  });
});

/** A signal takes a moment to arrive. */
async function draining({ client }: Served): Promise<void> {
  while ((await client.get('/health')).body.status !== 'draining');
}

describe('the end of the service', () => {
  it.each([
    ['10m', '10m at most'],
    ['-1', 'however long it takes'],
    ['30d', '30d at most'],
  ])(
    'lets a running answer finish within %s, refuses new ones, and leaves no process',
    async (span, words) => {
      const served = await installation.serve({
        ...installation.anotherHome(),
        SVC_NUM_THREADS: '1',
        SVC_DRAIN_TIMEOUT: span,
      });
      const stream = await served.client.streamChat(endless);
      await stream.firstText();
      const workers = await served.workers();
      served.signal('SIGTERM');
      await draining(served);
      expect((await served.client.get('/readyz')).body.code).toBe('draining');
      const refused = await served.client.chat({ max_tokens: 1 });
      expect([refused.status, refused.body.code]).toEqual([503, 'draining']);
      expect(refused.headers['connection']).toBe('close');
      const status = await installation.run(['status'], { SVC_HOME: served.home, SVC_PORT: served.port });
      expect([status.code, status.stdout]).toEqual([1, expect.stringContaining('it is shutting down')]);
      const { done, chunks } = await stream.all();
      expect([done, chunks.length > 100]).toEqual([true, true]);
      expect(await served.ended()).toBe(0);
      expect(served.stderr).toContain(`waiting for running answers, ${words}`);
      expect(workers.filter(isAlive)).toEqual([]);
    },
  );

  it('ends what does not finish in time with an error frame', async () => {
    const served = await installation.serve({
      ...installation.anotherHome(),
      SVC_NUM_THREADS: '1',
      // No answer of this length is made in the time that a signal takes.
      SVC_DRAIN_TIMEOUT: '1ms',
    });
    const stream = await served.client.streamChat(endless);
    await stream.firstText();
    served.signal('SIGTERM');
    const { error, done } = await stream.all();
    expect([error?.code, done]).toEqual(['draining', false]);
    expect(await served.ended()).toBe(0);
  });

  it('is not held up by connections that say nothing, or half of something', async () => {
    const served = await installation.serve({ ...installation.anotherHome(), SVC_NUM_THREADS: '1' });
    const open = async (...bytes: string[]) => {
      const socket = net.connect(Number(served.port), '127.0.0.1');
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('connect', resolve));
      for (const piece of bytes) socket.write(piece);
      return new Promise((resolve) => socket.resume().once('close', resolve));
    };
    const gone = Promise.all([
      open(),
      open('GET /health HTTP/1.1\r\nHost: loc'),
      open('POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'),
      open('POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{'),
      open('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    ]);
    expect((await served.client.get('/health')).status).toBe(200);
    served.signal('SIGTERM');
    expect(await served.ended()).toBe(0);
    await gone;
  });

  it('comes at once with the second signal', async () => {
    const served = await installation.serve({ ...installation.anotherHome(), SVC_NUM_THREADS: '1' });
    const stream = await served.client.streamChat(endless);
    await stream.firstText();
    const workers = await served.workers();
    served.signal('SIGINT');
    await draining(served);
    served.signal('SIGINT');
    const { done } = await stream.all();
    const code = await served.ended();
    expect([code, done]).toEqual([130, false]);
    while (workers.some(isAlive)) await new Promise((resolve) => setImmediate(resolve));
  });
});
