/**
 * `hearth serve --sealed`, with a traitor planted in a package that the server and its workers load: it connects as soon
 * as it is loaded and ever after, over TCP, over UDP, and from a program that it starts. Nobody hears it.
 */
import { appendFile, copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import dgram from 'node:dgram';
import net from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Settings } from '../support/process/hearth.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { MINE } from '../support/formats.ts';
import { hello } from '../support/http/http-client.ts';

/** Of the built program: which filter a machine gets. */
const FILTER_CHOICE = 'PLATFORMS[arch] ?? null';
const isLinux = process.platform === 'linux';
let installation: Installation;
let ear: Ear;
beforeAll(async () => {
  installation = await Installation.make({ trained: false });
  ear = await Ear.open();
  const parts = path.join(installation.folder, 'dist', 'parts');
  await appendFile(await partOf('typebox', parts), traitor(ear.port, process.pid));
});
afterAll(async () => {
  await installation.remove();
  ear.close();
});

/** The part of the bundle with most of a package, which whoever uses the package loads. */
async function partOf(name: string, folder: string): Promise<string> {
  const files = (await readdir(folder)).map((file) => path.join(folder, file));
  const counts = await Promise.all(
    files.map(async (file) => (await readFile(file, 'utf8')).split(`// node_modules/${name}/`).length),
  );
  const file = files[counts.indexOf(Math.max(...counts))];
  if (file === undefined) throw new Error(`${folder} is empty`);
  return file;
}

describe('a traitor in a package', () => {
  it('is heard from the server and from a worker without the seal', async () => {
    const home = await madeHome();
    const served = await installation.serve(home);
    await ask(served);
    for (const word of ['tcp server', 'tcp worker', 'udp server', 'udp worker', 'child server'])
      await ear.hears(word);
    await endOf(served);
    if (await canTrace()) expect(await memoryIn(home)).toBe('opened');
  });

  it.runIf(isLinux)(
    'is never heard with it; the service answers, and states the seal and signs it',
    async () => {
      ear.forget();
      const home = await madeHome();
      const served = await installation.serve({ ...home, SVC_SEALED: '1' });
      const { body } = await ask(served, { 'X-Svc-Evidence-Mode': 'frozen-v1' });
      const { predicate } = JSON.parse(Buffer.from(body.evidence.payload, 'base64').toString());
      expect(predicate.server.sealed).toEqual({ network: 'seccomp', worker_files: 'landlock' });
      const identity = await served.client.get('/v1/identity?nonce=12345678');
      expect(identity.body.sealed).toEqual(predicate.server.sealed);
      await endOf(served);
      expect(ear.heard).toEqual([]);
      expect(await memoryIn(home)).toBe('EACCES');
    },
  );

  it.runIf(isLinux)(
    'finds the memory of others closed where the settings file asks for the seal',
    async () => {
      const home = await madeHome();
      await writeFile(path.join(String(home['SVC_HOME']), 'config.toml'), 'sealed = true\n');
      const served = await installation.serve(home);
      await ask(served);
      await endOf(served);
      expect(await memoryIn(home)).toMatch(/EACCES$/);
    },
  );

  it.runIf(isLinux)('serves no model of another engine, and says which one is in its way', async () => {
    const home = installation.anotherHome();
    const served = await installation.serve({ ...home, SVC_SEALED: '1' });
    const args = ['upstream', 'add', 'far', 'http://127.0.0.1:9', '--dialect', 'openai'];
    expect((await installation.run(args, home)).code).toBe(0);
    const body = { ...hello, model: 'far/x' };
    const { status, body: refusal } = await served.client.post('/v1/chat/completions', body);
    expect([status, refusal.code]).toEqual([403, 'engines_sealed']);
    await endOf(served);
    const again = await installation.run(['serve'], { ...home, SVC_SEALED: '1', SVC_PORT: '0' });
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining('cannot serve the models of "far"'),
    ]);
  });

  it.runIf(isLinux)('cannot have a model fetched either', async () => {
    const { code, stderr } = await installation.run(['pull', 'some/model'], { SVC_SEALED: '1' });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('Nothing is fetched, because this is sealed'),
    ]);
  });
});

describe.runIf(isLinux)('where the kernel has no filter', () => {
  it("a traitor finds Node's own functions guarded, and the service says that this is all", async () => {
    const parts = path.join(installation.folder, 'dist', 'parts');
    let forced = 0;
    const sources = await Promise.all(
      (await readdir(parts)).map(
        async (name) => [path.join(parts, name), await readFile(path.join(parts, name), 'utf8')] as const,
      ),
    );
    for (const [file, text] of sources) {
      if (!text.includes(FILTER_CHOICE)) continue;
      forced += 1;
      await writeFile(file, text.replace(FILTER_CHOICE, 'null'));
    }
    expect(forced).toBe(1);
    try {
      ear.forget();
      const served = await installation.serve({ ...installation.anotherHome(), SVC_SEALED: '1' });
      await ask(served);
      const identity = await served.client.get('/v1/identity');
      expect(identity.body.sealed).toEqual({ network: 'socket-guard', worker_files: 'none' });
      await endOf(served);
      // A program that is started is not guarded, as docs/reliability.md says.
      expect(ear.heard.filter((word) => !word.startsWith('child '))).toEqual([]);
    } finally {
      for (const [file, text] of sources) await writeFile(file, text);
    }
  });
});

describe.runIf(isLinux)('a sealed worker', () => {
  it('reads a model that was installed after it started, and hearth status tells its guards', async () => {
    const home = installation.anotherHome();
    const served = await installation.serve({ ...home, SVC_SEALED: '1' });
    const file = path.join(installation.folder, 'models', 'hearth-mini', 'model.gguf');
    await installation.run(['import', '--copy', '--no-probe', '--id', 'late', file], home);
    expect((await ask(served, {}, 'late')).status).toBe(200);
    const { stdout } = await installation.run(['status'], { ...home, SVC_PORT: served.port });
    expect(stdout).toContain('connections: seccomp; files of workers: landlock');
    await endOf(served);
  });

  it('tells before its load what a model takes that lies elsewhere and was imported after it started', async () => {
    const home = installation.anotherHome();
    const served = await installation.serve({ ...home, SVC_SEALED: '1' });
    const file = path.join(installation.folder, 'beside.gguf');
    await copyFile(path.join(installation.folder, 'models', 'hearth-mini', 'model.gguf'), file);
    await installation.run(['import', '--no-probe', '--id', 'beside', file], home);
    expect((await ask(served, {}, 'beside')).status).toBe(200);
    await endOf(served);
    const tuning = path.join(String(home['SVC_HOME']), 'tuning');
    const texts = await Promise.all(
      (await readdir(tuning)).map((name) => readFile(path.join(tuning, name), 'utf8')),
    );
    const records = texts.map((text) => JSON.parse(text) as TuningRecord);
    const beside = records.find(({ modelId }) => modelId === 'beside');
    // Without an answer, the plan follows the header.
    expect(beside?.memory?.reckoned).not.toEqual([]);
    expect(beside?.memory?.reckoned).toBeDefined();
  });

  it('reads the template and the tool format that its model was set to before or after it started', async () => {
    const home = installation.anotherHome();
    const template = path.join(installation.folder, 'own.jinja');
    const format = path.join(installation.folder, 'own.json');
    await writeFile(
      template,
      "{{ messages[0].content }}{{ tools[0].function.name if tools else '' }} sealed:",
    );
    await writeFile(format, JSON.stringify(FORMAT));
    const set = (...pairs: string[]) => installation.run(['set', 'hearth-mini', ...pairs], home);
    await installation.run(['restore', 'hearth-mini'], home);
    expect((await set(`template=${template}`)).code).toBe(0);
    const served = await installation.serve({ ...home, SVC_SEALED: '1' });
    const rendered = async () => {
      const tools = [{ name: 'look', parameters: { type: 'object', properties: {} } }];
      const body = { ...hello, tools };
      const reply = await served.client.post('/v1/chat/completions?svc_dry_run=1', body);
      expect(reply.status).toBe(200);
      return reply.body;
    };
    expect((await rendered()).rendered_prompt).toContain('sealed:');
    expect((await set(`tool_format=${format}`)).code).toBe(0);
    // A dry run evicts nothing to find out.
    await ask(served);
    expect((await rendered()).tool_format).toBe(FORMAT.tools.name);
    await endOf(served);
  });
});

const FORMAT = { tools: MINE };

async function ask(served: Served, headers: Record<string, string> = {}, model = 'default') {
  const reply = await served.client.post('/v1/chat/completions', { ...hello, model, max_tokens: 4 }, headers);
  expect(reply.status).toBe(200);
  return reply;
}

async function endOf(served: Served): Promise<void> {
  served.signal('SIGTERM');
  expect(await served.ended()).toBe(0);
}

/** Listens on one port for both protocols, and remembers the words that it hears. */
class Ear {
  readonly heard: string[] = [];
  readonly port: number;
  readonly #tcp: net.Server;
  readonly #udp: dgram.Socket;
  #onWord: () => void = () => {};

  private constructor(tcp: net.Server, udp: dgram.Socket, port: number) {
    this.#tcp = tcp;
    this.#udp = udp;
    this.port = port;
  }

  static async open(): Promise<Ear> {
    const tcp = net.createServer();
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as net.AddressInfo;
    const udp = dgram.createSocket('udp4');
    await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve));
    const ear = new Ear(tcp, udp, port);
    tcp.on('connection', (socket) =>
      socket.on('data', (word) => ear.#note(String(word))).on('error', () => {}),
    );
    udp.on('message', (word) => ear.#note(String(word)));
    return ear;
  }

  async hears(word: string): Promise<void> {
    while (!this.heard.includes(word)) await new Promise<void>((resolve) => (this.#onWord = resolve));
  }

  forget(): void {
    this.heard.length = 0;
  }

  close(): void {
    this.#tcp.close();
    this.#udp.close();
  }

  #note(word: string): void {
    if (!this.heard.includes(word)) this.heard.push(word);
    this.#onWord();
  }
}

/** One that is there before the service is, so that the traitor can write into it. */
async function madeHome(): Promise<Settings> {
  const home = installation.anotherHome();
  await mkdir(String(home['SVC_HOME']));
  return home;
}

/** What came of the attempt to open the memory of this process, as the server wrote it down. */
async function memoryIn(home: Settings): Promise<string> {
  return readFile(path.join(String(home['SVC_HOME']), 'memory'), 'utf8');
}

/** Whether this system lets a process into the memory of others of its user; Yama may forbid it anyway. */
async function canTrace(): Promise<boolean> {
  const yama = await readFile('/proc/sys/kernel/yama/ptrace_scope', 'utf8').catch(() =>
    isLinux ? '0' : '1',
  );
  return yama.trim() === '0';
}

/** Code of a module; the worker's time to boot is many of its attempts. `victim` is no process of the service. */
function traitor(port: number, victim: number): string {
  return `
import net_ from 'node:net';
import dgram_ from 'node:dgram';
import { execFile as run_ } from 'node:child_process';
import fs_ from 'node:fs';
const who_ = process.send === undefined ? 'server' : 'worker';
function betray_() {
  net_.connect(${port}, '127.0.0.1').on('error', () => {}).end('tcp ' + who_);
  try {
    const socket = dgram_.createSocket('udp4').on('error', () => {});
    socket.send('udp ' + who_, ${port}, '127.0.0.1', () => socket.close(() => {}));
  } catch {}
}
betray_();
if (who_ === 'server' && process.env.SVC_HOME) {
  let came_ = 'opened';
  try {
    fs_.closeSync(fs_.openSync('/proc/${victim}/mem', 'r+'));
  } catch (error) {
    came_ = error.code;
  }
  try {
    fs_.appendFileSync(process.env.SVC_HOME + '/memory', came_);
  } catch {}
}
setInterval(betray_, 20).unref();
run_(process.execPath, ['-e', "require('node:net').connect(${port}, '127.0.0.1').on('error', () => {}).end('child " + who_ + "')"], () => {});
`;
}

interface TuningRecord {
  readonly modelId: string;
  readonly memory: { readonly reckoned: readonly unknown[] } | null;
}
