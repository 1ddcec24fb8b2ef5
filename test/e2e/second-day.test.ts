/** What users do on the second day: end the service, give a model a system prompt, embed, look at the disk. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startFakeHub } from '../support/hub/fake-hub.ts';
import { collect } from '../support/process/hearth.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { Terminal } from '../support/process/terminal.ts';
import { tinyModels } from '../support/tiny-models.ts';

let installation: Installation;
let served: Served;
beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve();
});
afterAll(() => installation.remove());

const settings = () => ({ SVC_PORT: served.port });
const run = (...args: string[]) => installation.run(args, settings());
const user = { role: 'user', content: 'Who are you?' };

describe('a system prompt of a model', () => {
  it('is read from the command or a file, shown, used by chats and by no frozen run', async () => {
    const ask = async (headers = {}) => {
      const request = { model: 'hearth-mini', messages: [user], temperature: 0 };
      return (await served.client.post('/v1/chat/completions', request, headers)).body;
    };
    const frozen = { 'x-svc-evidence-mode': 'frozen-v1' };
    const before = { plain: await ask(), frozen: await ask(frozen) };
    const file = path.join(installation.folder, 'pirate.txt');
    await writeFile(file, 'You are a pirate.\nAnswer in two sentences.\n');
    const set = await run('set', 'hearth-mini', `system=@${file}`);
    expect([set.code, set.stderr]).toEqual([0, expect.stringContaining('from the next request on')]);
    const { stdout } = await run('show', 'hearth-mini');
    expect(stdout).toMatch(/^system +You are a pirate\.\n +Answer in two sentences\.$/m);
    const after = { plain: await ask(), frozen: await ask(frozen) };
    expect(after.plain.usage.prompt_tokens).toBeGreaterThan(before.plain.usage.prompt_tokens);
    expect(after.frozen.usage).toEqual(before.frozen.usage);
    expect(after.frozen.choices).toEqual(before.frozen.choices);
    await run('set', 'hearth-mini', 'system=');
    expect((await ask()).usage.prompt_tokens).toBe(before.plain.usage.prompt_tokens);
    expect((await run('set', 'hearth-embed', 'system=x')).stderr).toContain('is for chat models');
    expect((await run('set', 'hearth-mini', 'system=@/nowhere')).stderr).toContain('cannot be read (ENOENT)');
  });
});

describe('the limits of the built-in model', () => {
  it('are told wherever it is described, whatever it says of itself', async () => {
    const limits = expect.stringContaining('cannot calculate, sort, or find an address in a text');
    expect((await served.client.get('/v1/models/hearth-mini')).body.limits).toEqual(limits);
    expect((await run('show', 'hearth-mini')).stdout).toEqual(limits);
    expect(
      (await served.client.get('/v1/models')).body.data.map(
        ({ limits: each }: { limits?: string }) => typeof each,
      ),
    ).toEqual(['string', 'string']);
  });
});

describe('hearth embed', () => {
  const lines = (text: string): number[][] =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('prints a vector per text, as wide as was asked or set', async () => {
    const { stdout } = await run('embed', 'a shop', 'a store');
    expect(lines(stdout).map(({ length }) => length)).toEqual([768, 768]);
    const { body } = await served.client.post('/v1/embeddings', {
      model: 'default-embedding',
      input: 'a shop',
    });
    expect(lines(stdout)[0]).toEqual(body.data[0].embedding);
    expect(lines((await run('embed', '--dimensions', '384', 'x')).stdout)[0]).toHaveLength(384);
    await run('set', 'hearth-embed', 'dimensions=native');
    expect(lines((await run('embed', 'x')).stdout)[0]).toHaveLength(384);
    expect((await run('show', 'hearth-embed')).stdout).toMatch(/^vectors +384 numbers; /m);
    await run('set', 'hearth-embed', 'dimensions=');
    expect((await run('show', 'hearth-embed')).stdout).toContain('zeros up to 768');
    expect((await run('set', 'hearth-embed', 'dimensions=-4')).stderr).toContain(
      'write native, or a whole number',
    );
  });

  it('takes texts from stdin, a line each', async () => {
    const bin = path.join(installation.folder, 'bin', 'hearth.js');
    const env = { ...process.env, SVC_HOME: installation.home, ...settings() };
    const child = spawn(process.execPath, [bin, 'embed', '--model', 'hearth-embed'], { env });
    const output = collect(child);
    child.stdin.end('one\n\ntwo\r\nthree');
    await once(child, 'close');
    expect(lines(output.stdout())).toHaveLength(3);
    expect((await run('embed')).code).toBe(2);
  });
});

describe('hearth run', () => {
  it('answers as JSON that is valid for the schema of a file', async () => {
    const file = path.join(installation.folder, 'schema.json');
    await writeFile(
      file,
      JSON.stringify({
        type: 'object',
        properties: { n: { enum: [41] } },
        required: ['n'],
        additionalProperties: false,
      }),
    );
    const { stdout } = await run('run', 'hearth-mini', '--format', file, 'Give me a number');
    expect(JSON.parse(stdout)).toEqual({ n: 41 });
    const broken = path.join(installation.folder, 'broken.json');
    await writeFile(broken, '{');
    const refused = await run('run', 'hearth-mini', '--format', broken, 'x y');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is not a JSON Schema')]);
  });

  it('sends images, and tells what the service says to them', async () => {
    const file = path.join(installation.folder, 'dot.png');
    await writeFile(file, Buffer.from('89504e470d0a1a0a0000000d', 'hex'));
    const { code, stderr } = await run('run', 'hearth-mini', '--image', file, 'What is it?');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/image/i)]);
    await writeFile(file, 'no image');
    expect((await run('run', 'hearth-mini', '--image', file, 'What is it?')).stderr).toContain(
      'is not an image',
    );
  });

  it('lets a model think, or not', async () => {
    for (const flag of ['--think', '--no-think'])
      expect((await run('run', 'hearth-mini', flag, '--max-tokens', '1', 'Hello there')).code).toBe(0);
  });

  it('says which limit cut the answer', async () => {
    const cut = async (...args: string[]) =>
      (await run('run', 'hearth-mini', ...args, 'Tell me about Hearth')).stderr;
    expect(await cut('--max-tokens', '3')).toContain('cut after 3 tokens (max_tokens)');
    await run('set', 'hearth-mini', 'max_tokens=4');
    expect(await cut()).toContain('cut after 4 tokens, the limit of hearth-mini');
    await run('set', 'hearth-mini', 'max_tokens=');
  });

  it('offers to pull nothing where nobody can answer, and names what to pull', async () => {
    const { code, stderr } = await run('run', 'llama3.2:1b', 'hi');
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining('hearth pull bartowski/Llama-3.2-1B-Instruct-GGUF'),
    ]);
  });

  it('offers to pull a known name in a terminal, and asks the model once it is there', async () => {
    const hub = await startFakeHub(
      { 'Llama-3.2-1B-Instruct-Q4_0.gguf': await readFile(tinyModels.chat) },
      'bartowski/Llama-3.2-1B-Instruct-GGUF',
    );
    const opened = (): Terminal => {
      const bin = path.join(installation.folder, 'bin', 'hearth.js');
      const words = [bin, 'run', 'llama3.2:1b', '--max-tokens', '2', 'Hello there'];
      const env = {
        HF_ENDPOINT: hub.endpoint,
        SVC_HUB_HOSTS: new URL(hub.cdn).host,
        HOME: installation.folder,
      };
      const terminal = new Terminal(words, { SVC_HOME: installation.home, ...settings(), ...env });
      onTestFinished(() => terminal.remove());
      return terminal;
    };
    const declined = opened();
    await declined.sees('Pull bartowski/Llama-3.2-1B-Instruct-GGUF?');
    expect(await declined.types('n').ended()).toBe(4);
    expect(hub.seen).toEqual([]);
    const accepted = opened();
    await accepted.sees('llama3.2:1b is not installed.');
    expect(await accepted.types('y').ended()).toBe(0);
    expect(hub.requests('cdn')).not.toEqual([]);
    expect((await run('list')).stdout).toMatch(/^bartowski\/llama-3\.2-1b-instruct-gguf:q4_0 /m);
  });
});

describe('hearth du', () => {
  it('counts what the home holds, each file once', async () => {
    await mkdir(path.join(served.home, 'responses'), { recursive: true });
    await writeFile(path.join(served.home, 'responses', 'x'), Buffer.alloc(3 * 1024 * 1024));
    const { stdout } = await run('du');
    expect(stdout).toMatch(/^\d+\.\d MiB in .*: .*responses 3\.0 MiB.*logs /);
    const facts = JSON.parse((await run('du', '--json')).stdout);
    const { home, total, inPlace, ...parts } = facts as Record<string, number>;
    expect(home).toBe(served.home);
    // The built-in models lie in the package.
    expect(inPlace).toBeGreaterThan(10_000_000);
    expect(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)).toBe(total);
    expect(parts['responses']).toBe(3 * 1024 * 1024);
  });
});

describe('the end', () => {
  it('is not what stop means, and says so', async () => {
    const { code, stderr } = await run('stop');
    expect([code, stderr]).toEqual([2, expect.stringContaining('hearth quit')]);
  });

  it('waits for a stream, and comes once', async () => {
    const fields = { messages: [user], stream: true, max_tokens: 900, ignore_eos: true };
    const response = await fetch(`${served.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'hearth-mini', ...fields }),
    });
    const order: string[] = [];
    const quitting = run('quit').finally(() => order.push('quit'));
    const text = await response.text().finally(() => order.push('stream'));
    const { code, stderr } = await quitting;
    expect([code, stderr]).toEqual([0, expect.stringContaining('The service has ended.')]);
    expect(text).toContain('[DONE]');
    expect(order).toEqual(['stream', 'quit']);
    const again = await run('quit');
    expect([again.code, again.stderr]).toEqual([3, expect.stringContaining('no service runs')]);
  });
});
