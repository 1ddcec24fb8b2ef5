/** hearth eval: an unchanged model, models with seeded defects, the signed card, an interrupted run, recorded requests. */
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flipped, openDefects } from '../support/gguf-defects.ts';
import { startUpstream } from '../support/upstream/scripted-upstream.ts';
import { collect, finish } from '../support/process/hearth.ts';
import { Installation } from '../support/process/installation.ts';

const FLIPPED = 'blk.1.ffn_down.weight';
let installation: Installation;
// Several threads wait for each other on a busy machine.
const hearth = (...args: string[]) => installation.run(args, { SVC_NUM_THREADS: '1' });
const inFolder = (name: string): string => path.join(installation.folder, name);

beforeAll(async () => {
  installation = await Installation.make();
  expect((await hearth('restore', 'hearth-mini')).code).toBe(0);
  const file = path.join(installation.folder, 'models', 'hearth-mini', 'model.gguf');
  const mini = await openDefects(file, await readFile(file));
  await writeFile(inFolder('flipped.gguf'), flipped(mini, FLIPPED));
  for (const [name, source] of [
    ['same', file],
    ['wrong', file],
    ['flipped', inFolder('flipped.gguf')],
  ] as const)
    expect(await hearth('import', source, '--id', name)).toMatchObject({ code: 0 });
  expect((await hearth('set', 'wrong', 'rope_freq_base=40', 'template=llama-2')).code).toBe(0);
});
afterAll(() => installation.remove());

describe('hearth eval of an unchanged model', () => {
  let card: string;
  it('finds nothing wrong, and draws a plot', async () => {
    const svg = inFolder('plot.svg');
    const args = ['eval', 'same', '--against', 'hearth-mini', '--json', '--svg', svg];
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

// All kinds of defects: test/native/eval-defects.test.ts.
describe('hearth eval of a model with a defect', () => {
  it.each([
    // A base that the model was not trained with, and the marks of another family.
    [
      'wrong',
      [
        /^wrong +It puts a conversation in other words than hearth-mini: another chat template \(template is llama-2,/m,
        /^wrong +It gets worse along a text .*: another setting: rope_freq_base is 40, and not set in hearth-mini\./m,
      ],
    ],
    ['flipped', [new RegExp(String.raw`: damaged weights: 1 of \d+ tensors .*\(${FLIPPED}\)`)]],
  ])('names it at once, and leaves the long text out: %s', async (model, words) => {
    const { code, stdout, stderr } = await hearth('eval', model, '--against', 'hearth-mini', '--texts-only');
    for (const each of words) expect(stdout, stderr).toMatch(each);
    expect(stdout.match(/^wrong /gm)).toHaveLength(words.length);
    expect(stdout).toMatch(/^not tried +facts in a long text: the short texts already show what is wrong$/m);
    expect(stdout).toMatch(/^not tried +calls and JSON: you left them out$/m);
    expect(stdout).toMatch(/^prose +\d\.\d{3} bits per byte \(hearth-mini \d\.\d{3}\), perplexity /m);
    expect(code).toBe(1);
    expect(stderr).toContain(`${model}: It `);
    expect(stderr.indexOf(`${model} is wrong: It `)).toBeLessThan(stderr.indexOf(`${model}: 11 of 12`));
    expect(stderr).toContain(`${model} is wrong: It `);
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
        if (stderr().includes(': 4 of 12')) resolve();
      });
    });
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
    expect(await readdir(unfinished)).toHaveLength(1);
    const again = await finish(run('eval', 'hearth-mini', '--texts-only'));
    expect(again.stderr).toMatch(/continuing an interrupted run \([3-9] parts are there\)/);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^verdict +Needs /m) });
    expect(again.stdout).toMatch(/^not tried +facts in a long text: you left them out$/m);
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

describe('hearth eval against a model of another service', () => {
  it('compares with another Hearth, and signs what that one tells of it', async () => {
    const there = await installation.serve(installation.anotherHome());
    try {
      expect(await hearth('upstream', 'add', 'far', `${there.url}/v1`)).toMatchObject({ code: 0 });
      const args = ['eval', 'wrong', '--against', 'far/hearth-mini', '--texts-only', '--json'];
      const { code, stdout, stderr } = await hearth(...args);
      const report = JSON.parse(stdout);
      expect(report.findings, stderr).toEqual([
        expect.stringMatching(/^It gets worse along a text .* its rotary base, scaling or window differs\.$/),
      ]);
      expect([code, report.against.memory_ratio, report.against.written_ratio]).toEqual([1, null, null]);
      expect(report.against.tokens).toBe(report.whole.tokens);
      const same = await hearth('eval', 'same', '--against', 'far/hearth-mini', '--texts-only', '--json');
      const equal = JSON.parse(same.stdout);
      expect([same.code, equal.findings], same.stderr).toEqual([0, []]);
      expect(equal.against.same_choice).toBeGreaterThan(0.95);
      expect(equal.against.loss_ratio).toBeCloseTo(1, 2);
      const card = inFolder('far.json');
      await writeFile(card, same.stdout);
      expect(await hearth('evidence', 'verify', card)).toMatchObject({ code: 0 });
      const { reference } = JSON.parse(Buffer.from(equal.evidence.payload, 'base64').toString()).predicate;
      expect(reference).toEqual({
        id: 'far/hearth-mini',
        upstream: 'far',
        stated_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
    } finally {
      there.signal('SIGTERM');
      await there.ended();
    }
  });

  it('says in a sentence if the service does not tell log probabilities, and what to do', async () => {
    const other = await startUpstream();
    other.pages = { '/v1/completions': { choices: [{ index: 0, text: 'x', finish_reason: 'length' }] } };
    try {
      const added = await hearth('upstream', 'add', 'mute', `${other.url}/v1`, '--dialect', 'openai');
      expect(added).toMatchObject({ code: 0 });
      const model = added.stdout.match(/mute\/\S+/)?.[0] ?? 'mute/tale';
      expect(await hearth('eval', 'same', '--against', model, '--texts-only')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /Model "mute\/\S+" runs on an engine that cannot report the log probabilities of a prompt; compare with a model of another Hearth or of vLLM, or install the reference here/,
        ),
      });
    } finally {
      await other.close();
    }
  });
});
