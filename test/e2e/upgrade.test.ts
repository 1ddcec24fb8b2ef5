/** hearth upgrade and hearth rollback: libraries and models that are harmless, and those that compute something else. */
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtLlamaCpp } from '../support/libraries/fake-llama-cpp.ts';
import { redirectFunction } from '../support/libraries/patched-library.ts';
import { endProcess } from '../support/process/hearth.ts';
import { Installation } from '../support/process/installation.ts';

const isPatchable = process.platform === 'linux' && process.arch !== 'arm';
const FLIPPED_BYTES = 120_000;
/** Other tests run beside these, so what is said of speed would be chance. */
const BUSY = ['--no-speed'];

let installation: Installation;
let weights: string;
const hearth = (...args: string[]) => installation.run(args);
const at = (...parts: string[]): string => path.join(installation.folder, ...parts);
const shown = async (id: string) => JSON.parse((await hearth('show', id, '--json')).stdout);
const libraryInUse = async (): Promise<string> => JSON.parse((await hearth('library', '--json')).stdout).name;

beforeAll(async () => {
  installation = await Installation.make();
  expect((await hearth('restore', 'hearth-mini')).code).toBe(0);
  weights = at('models', 'hearth-mini', 'model.gguf');
});
afterAll(() => installation.remove());

async function upgrade(...args: string[]) {
  const { code, stdout, stderr } = await hearth('upgrade', ...args, ...BUSY, '--json');
  return { code, stderr, report: JSON.parse(stdout === '' ? '{}' : stdout) };
}

describe.runIf(isPatchable)('another build of llama.cpp', () => {
  beforeAll(async () => {
    const same = await builtLlamaCpp(at('same'));
    const bad = await builtLlamaCpp(at('bad'));
    // The gate of every layer is another function: nothing crashes, and all answers are others.
    await redirectFunction(
      path.join(bad, 'build', 'bin', 'libggml-base.so'),
      'ggml_swiglu_split',
      'ggml_reglu_split',
    );
    for (const [name, folder] of [
      ['same', same],
      ['bad', bad],
    ] as const) {
      const { code, stderr } = await hearth('library', 'use', folder, '--name', name, '--no-switch');
      expect([code, stderr]).toEqual([0, expect.stringContaining(`hearth upgrade --library ${name}`)]);
    }
    expect(await libraryInUse()).toBe('package');
  });

  it('that is harmless is taken with its requests replayed, and rolled back', async () => {
    const served = await installation.serve({ SVC_RECORD: 'text' });
    const ask = (body: object) =>
      served.client.post('/v1/chat/completions', { model: 'hearth-mini', max_tokens: 24, ...body });
    await ask({ messages: [{ role: 'user', content: 'Hello!' }] });
    await ask({
      messages: [{ role: 'user', content: 'Name a colour.' }],
      response_format: { type: 'json_object' },
    });
    await served.client.embed({ input: 'no chat' });
    const recorded = async () => (await served.client.get('/svc/requests')).body.data.length;
    await expect.poll(recorded).toBeGreaterThanOrEqual(3);
    const args = ['upgrade', '--library', 'same', '--replay', 'service', '--switch', ...BUSY, '--json'];
    const taken = await installation.run(args, { SVC_PORT: served.port });
    const report = JSON.parse(taken.stdout === '' ? '{}' : taken.stdout);
    expect([taken.code, report.verdict, report.reasons], taken.stderr).toEqual([0, 'switch', []]);
    expect(report.figures.requests).toMatchObject({
      replayed: 2,
      validBefore: 2,
      valid: 2,
      lost: [],
    });
    // Steps of other sizes round otherwise.
    expect(report.figures.requests.distance.sameChoice).toBeGreaterThan(0.97);
    expect(report.left_out).toBe(1);
    expect(report.figures.cases.tried).toBeGreaterThan(10);
    expect(taken.stderr).toContain(`process ${served.pid}, still runs the former library`);
    served.signal('SIGTERM');
    await served.ended();

    expect(await libraryInUse()).toBe('same');
    expect((await hearth('rollback', '--list')).stdout).toContain('llama.cpp same in place of package');
    const back = await hearth('rollback');
    expect([back.code, back.stderr]).toEqual([0, expect.stringContaining('on llama.cpp package')]);
    expect(await libraryInUse()).toBe('package');
    expect((await hearth('rollback')).code).toBe(4);
  });

  it('that computes something else is refused, in words with numbers', async () => {
    const { code, stdout, stderr } = await installation.run([
      'upgrade',
      '--library',
      'bad',
      '--texts-only',
      '--switch',
      '--yes',
    ]);
    expect(code, stderr).toBe(1);
    expect(stdout).toMatch(/^verdict +keep the present one$/m);
    expect(stdout).toMatch(/^because +It computes something else from the same weights: it changes \d/m);
    expect(await libraryInUse()).toBe('package');
    expect((await hearth('rollback', '--list')).stderr).toContain('No former state is kept');
  });

  it('leaves the former state where it is killed in the middle', async () => {
    const child = installation.start(['upgrade', '--library', 'same', '--switch']);
    const [words] = (await once(child.stderr!, 'data')) as [Buffer];
    expect(words.toString()).toContain('text ');
    await endProcess(child, 'SIGKILL');
    expect(await libraryInUse()).toBe('package');
    expect((await hearth('rollback')).code).toBe(4);
  });

  it('that was replaced since is not brought back in another form', async () => {
    expect((await hearth('library', 'switch', 'same')).code).toBe(0);
    expect((await hearth('upgrade', '--library', 'package', '--texts-only', ...BUSY, '--switch')).code).toBe(
      0,
    );
    expect((await hearth('library', 'remove', 'same')).code).toBe(0);
    const { code, stderr } = await hearth('rollback');
    expect([code, stderr]).toEqual([1, expect.stringContaining('was removed or replaced')]);
    expect(await libraryInUse()).toBe('package');
    expect((await hearth('rollback', '--forget')).code).toBe(0);
    expect((await hearth('rollback')).code).toBe(4);
  });
});

describe('other files of a model', () => {
  beforeAll(async () => {
    const bytes = await readFile(weights);
    await mkdir(at('files'));
    // Other bytes with the same weights: the first description in the header.
    const renamed = Buffer.from(bytes);
    renamed.write('Tiny rebuilt', renamed.indexOf('Tiny built-in'));
    const flipped = Buffer.from(bytes);
    const half = Math.floor(bytes.length / 2);
    for (let place = half; place < half + FLIPPED_BYTES; place += 1)
      flipped[place] = (flipped[place] ?? 0) ^ 0x80;
    for (const [name, content] of [
      ['mine', bytes],
      ['next', renamed],
      ['flipped', flipped],
    ] as const) {
      await writeFile(at('files', `${name}.gguf`), content);
      const imported = await hearth('import', at('files', `${name}.gguf`), '--id', name, '--copy');
      expect(imported.code, imported.stderr).toBe(0);
    }
    expect((await hearth('set', 'mine', 'temperature=0.3')).code).toBe(0);
    expect((await hearth('alias', 'helper', 'mine')).code).toBe(0);
  });

  it('take the place of the present ones under its names and settings, at once, and give it back', async () => {
    const before = await shown('mine');
    const served = await installation.serve();
    const { code, stderr, report } = await upgrade('mine', '--to', 'next', '--texts-only', '--switch');
    expect([code, report.verdict, report.switched], stderr).toEqual([0, 'switch', true]);
    const after = await shown('mine');
    const next = await shown('next');
    expect(after.files).toEqual(next.files);
    expect(after.files).not.toEqual(before.files);
    expect([after.params, after.aliases]).toEqual([before.params, before.aliases]);
    const answer = await served.client.post('/v1/chat/completions', {
      model: 'helper',
      messages: [{ role: 'user', content: 'Hello!' }],
      max_tokens: 4,
    });
    expect(answer.status).toBe(200);
    served.signal('SIGTERM');
    await served.ended();

    expect((await hearth('set', 'mine', 'temperature=0.9')).code).toBe(0);
    expect((await hearth('rollback')).code).toBe(0);
    const back = await shown('mine');
    expect([back.files, back.params]).toEqual([before.files, before.params]);
    expect((await hearth('verify', 'mine')).code).toBe(0);
  });

  it('that are damaged are refused', async () => {
    const before = await shown('mine');
    const { code, report } = await upgrade('mine', '--to', 'flipped', '--texts-only', '--switch', '--yes');
    expect([code, report.verdict, report.switched]).toEqual([1, 'keep', false]);
    expect(report.reasons[0]).toContain('damaged weights');
    expect((await shown('mine')).files).toEqual(before.files);
  });
});

describe('another Hearth', () => {
  it('that computes the same is recommended, and is not taken here', async () => {
    const { code, stderr, report } = await upgrade('--hearth', installation.folder, '--texts-only');
    expect([code, report.verdict, report.reasons, report.switched], stderr).toEqual([0, 'switch', [], false]);
    expect(report.figures.texts.sameChoice).toBeGreaterThan(0.97);
  });

  it('that cannot do the work is refused in its own words', async () => {
    const folder = at('older');
    await mkdir(path.join(folder, 'bin'), { recursive: true });
    await writeFile(
      path.join(folder, 'bin', 'hearth.js'),
      "console.error('hearth: there is no verb upgrade'); process.exit(2);",
    );
    const { code, report } = await upgrade('--hearth', folder, '--texts-only');
    expect([code, report.verdict]).toEqual([1, 'keep']);
    expect(report.reasons).toEqual([expect.stringContaining('(hearth: there is no verb upgrade)')]);
  });
});

it.each([
  [['upgrade', '--hearth', 'nowhere'], 'there is no bin/hearth.js'],
  [['upgrade'], 'name the candidate: --library'],
  [['upgrade', '--library', 'package'], 'package is in use already'],
  [['upgrade', '--library', 'nope'], 'No build of llama.cpp is kept under the name'],
  [['upgrade', 'hearth-mini', '--to', 'hearth-mini'], 'is the model itself'],
  [['upgrade', '--to', 'x', '--library', 'y'], 'cannot be used with'],
  [['upgrade', '--try', '--switch'], 'cannot be used with'],
])('%j is refused with what to write instead', async (args, words) => {
  const { code, stderr } = await hearth(...args);
  expect(code).not.toBe(0);
  expect(stderr).toContain(words);
});
