/** hearth eval: an unchanged model, models with seeded defects, the signed card, an interrupted run, recorded requests. */
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTensorPlaces } from '../../packages/gguf/src/gate/inspect.ts';
import { flipped, withoutWords } from '../support/gguf-defects.ts';
import { collect, finish } from '../support/process/hearth.ts';
import { Installation } from '../support/process/installation.ts';

const FLIPPED = 'blk.1.ffn_down.weight';
let installation: Installation;
const hearth = (...args: string[]) => installation.run(args);
const inFolder = (name: string): string => path.join(installation.folder, name);

beforeAll(async () => {
  installation = await Installation.make();
  expect((await hearth('restore', 'hearth-mini')).code).toBe(0);
  const file = path.join(installation.folder, 'models', 'hearth-mini', 'model.gguf');
  const bytes = await readFile(file);
  const tensor = (await readTensorPlaces(file)).get(FLIPPED);
  if (tensor === undefined) throw new Error(`hearth-mini has no ${FLIPPED}`);
  await writeFile(inFolder('flipped.gguf'), flipped(bytes, tensor));
  await writeFile(inFolder('words.gguf'), withoutWords(bytes, 300));
  for (const [name, source] of [
    ['same', file],
    ['wrong', file],
    ['flipped', inFolder('flipped.gguf')],
    ['words', inFolder('words.gguf')],
  ] as const)
    expect(await hearth('import', source, '--id', name)).toMatchObject({ code: 0 });
  expect((await hearth('set', 'wrong', 'rope_freq_base=40', 'template=llama-2')).code).toBe(0);
});
afterAll(() => installation.remove());

describe('hearth eval of an unchanged model', () => {
  let card: string;
  it('finds nothing wrong, and draws a plot', async () => {
    const svg = inFolder('plot.svg');
    const args = ['eval', 'same', '--against', 'hearth-mini', '--texts-only', '--json', '--svg', svg];
    const { code, stdout, stderr } = await hearth(...args);
    card = stdout;
    const report = JSON.parse(stdout);
    expect([code, report.findings], stderr).toEqual([0, []]);
    expect(report).toMatchObject({
      object: 'svc.eval',
      model: 'same',
      against: { reference: 'hearth-mini' },
    });
    expect(report.verdict).toMatch(/^Answers like hearth-mini in /);
    expect(report.against.same_choice).toBeGreaterThan(0.95);
    expect(report.texts.map(({ name }: { name: string }) => name)).toContain('tool calls');
    expect(report.needle.tokens).toBeLessThanOrEqual(report.needle.window);
    expect(await readFile(svg, 'utf8')).toContain('% same)');
  });

  it('signs a card that verifies, and not with other figures', async () => {
    const [saved, altered] = [inFolder('card.json'), inFolder('altered.json')];
    await writeFile(saved, card);
    const report = JSON.parse(card);
    await writeFile(
      altered,
      JSON.stringify({ ...report, verdict: report.verdict.replace('like', 'unlike') }),
    );
    const verify = (file: string, ...flags: string[]) => hearth('evidence', 'verify', file, ...flags);
    expect(await verify(saved)).toMatchObject({ code: 0, stdout: expect.stringContaining('verified at L1') });
    expect(await verify(saved, '--artefacts')).toMatchObject({ code: 0 });
    expect(await verify(altered)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('the figures differ from what was signed'),
    });
    const replayed = await verify(saved, '--replay');
    expect(replayed).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('measure again with hearth eval'),
    });
  });

  it('is quoted by show and fit until the model changes', async () => {
    const { verdict } = JSON.parse(card);
    expect((await hearth('show', 'same')).stdout).toContain(`measured          ${verdict} (hearth eval, 20`);
    expect(JSON.parse((await hearth('show', 'same', '--json')).stdout).eval.outdated).toBeNull();
    expect((await hearth('fit', 'same')).stderr).toContain(`Measured: ${verdict}`);
    await hearth('set', 'same', 'rope_freq_base=10001');
    expect((await hearth('show', 'same')).stdout).toContain('before its settings changed)');
    await hearth('set', 'same', 'rope_freq_base=');
    // A card with other words is none.
    const file = path.join(installation.home, 'evals', 'same.json');
    await writeFile(file, card.replace('Answers like', 'Answers much better than'));
    expect((await hearth('show', 'same')).stdout).not.toContain('measured');
  });
});

describe('hearth eval of a model with a defect', () => {
  it.each([
    // A base that the model was not trained with, and the marks of another family.
    [
      'wrong',
      [
        /^wrong +It puts a conversation in other words than hearth-mini: another chat template/m,
        /^wrong +It gets worse along a text .* its rotary base/m,
      ],
    ],
    ['words', [/^wrong +It splits \d of 9 texts into other tokens than hearth-mini.*vocabulary/m]],
    [
      'flipped',
      [
        new RegExp(
          String.raw`damaged weights; 1 of \d+ tensors in the same form have other values \(${FLIPPED}\)`,
        ),
      ],
    ],
  ])('names it: %s', async (model, words) => {
    const { code, stdout, stderr } = await hearth('eval', model, '--against', 'hearth-mini', '--texts-only');
    for (const each of words) expect(stdout, stderr).toMatch(each);
    expect(stdout.match(/^wrong /gm)).toHaveLength(words.length);
    expect(code).toBe(1);
    expect(stderr).toContain(`${model}: It `);
  });
});

describe('hearth eval that is interrupted', () => {
  it('continues where it was', async () => {
    const home = installation.anotherHome();
    const unfinished = path.join(home['SVC_HOME'] ?? '', 'evals', 'unfinished');
    const run = (...args: string[]) => installation.start(args, home);
    expect((await finish(run('restore', 'hearth-mini'))).code).toBe(0);
    const child = run('eval', 'hearth-mini', '--texts-only');
    const { stderr } = collect(child);
    await new Promise<void>((resolve) => {
      child.stderr?.on('data', () => {
        if (stderr().includes(': 4 of 13')) resolve();
      });
    });
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
    expect(await readdir(unfinished)).toHaveLength(1);
    const again = await finish(run('eval', 'hearth-mini', '--texts-only'));
    expect(again.stderr).toMatch(/continuing an interrupted run \([3-9] parts are there\)/);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^verdict +Needs /m) });
    expect(await readdir(unfinished)).toEqual([]);
  });
});

describe('hearth eval of recorded requests', () => {
  it('scores them, and keeps none of their words', async () => {
    const served = await installation.serve({ SVC_RECORD: 'text' });
    const settings = { SVC_PORT: served.port };
    const run = (...args: string[]) => finish(installation.start(args, settings));
    try {
      const none = await run('eval', 'hearth-mini', '--texts-only', '--requests');
      expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('has kept no text of chats') });
      expect(await run('run', 'hearth-mini', 'Tell me about Zanzibar.')).toMatchObject({ code: 0 });
      const { code, stdout, stderr } = await run(
        'eval',
        'hearth-mini',
        '--texts-only',
        '--requests',
        '--json',
      );
      const report = JSON.parse(stdout);
      expect([code, report.own?.requests], stderr).toEqual([0, 1]);
      expect(report.own.tokens).toBeGreaterThan(4);
      const payload = Buffer.from(report.evidence.payload, 'base64').toString();
      expect(stdout + stderr + payload).not.toContain('Zanzibar');
    } finally {
      served.signal('SIGTERM');
      await served.ended();
    }
  });

  it('takes an archive, and names one that is none', async () => {
    const [har, other] = [inFolder('requests.har'), inFolder('other.har')];
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hello there' }] };
    const entries = [
      {
        request: { url: 'http://localhost/v1/chat/completions', postData: { text: JSON.stringify(body) } },
        response: { status: 200, content: {} },
      },
    ];
    await writeFile(har, JSON.stringify({ log: { entries } }));
    await writeFile(other, '{"log": 7}');
    const scored = await hearth('eval', 'hearth-mini', '--texts-only', '--requests', har);
    expect(scored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^recorded requests +\d/m) });
    const refused = await hearth('eval', 'hearth-mini', '--texts-only', '--requests', other);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is no archive of requests') });
  });
});
