/** hearth eval against a model that is the same, and against one whose settings are wrong. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../support/process/installation.ts';

const FLIPPED_BYTES = 120_000;
let installation: Installation;
const hearth = (...args: string[]) => installation.run(args);

beforeAll(async () => {
  installation = await Installation.make();
  expect((await hearth('restore', 'hearth-mini')).code).toBe(0);
  const file = path.join(installation.folder, 'models', 'hearth-mini', 'model.gguf');
  const bytes = await readFile(file);
  // Signs and high bits of weights in the middle of the file.
  const half = Math.floor(bytes.length / 2);
  for (let at = half; at < half + FLIPPED_BYTES; at += 1) bytes[at] = (bytes[at] ?? 0) ^ 0x80;
  const flipped = path.join(installation.folder, 'flipped.gguf');
  await writeFile(flipped, bytes);
  for (const [name, source] of [
    ['same', file],
    ['wrong', file],
    ['flipped', flipped],
  ] as const)
    expect((await hearth('import', source, '--id', name)).code).toBe(0);
  // A base that the model was not trained with, and the marks of another family.
  expect((await hearth('set', 'wrong', 'rope_freq_base=40', 'template=llama-2')).code).toBe(0);
});
afterAll(() => installation.remove());

describe('hearth eval', () => {
  it('finds nothing wrong with an equal model', async () => {
    const { code, stdout, stderr } = await hearth('eval', 'same', '--against', 'hearth-mini', '--json');
    const report = JSON.parse(stdout);
    expect([code, report.findings], stderr).toEqual([0, []]);
    expect(report).toMatchObject({
      object: 'svc.eval',
      model: 'same',
      against: { reference: 'hearth-mini' },
    });
    expect(report.verdict).toMatch(/^Answers like hearth-mini in /);
    expect(report.against.sameChoice).toBeGreaterThan(0.95);
    expect(report.texts.map(({ name }: { name: string }) => name)).toContain('tool calls');
    expect(report.cases.passed + report.cases.failed.length + report.cases.left).toBe(report.cases.all);
  });

  it('names what is wrong with one that is not, and fails', async () => {
    const { code, stdout, stderr } = await hearth('eval', 'wrong', '--against', 'hearth-mini');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /wrong +It puts a conversation in other words than hearth-mini: another chat template/,
    );
    expect(stdout).toMatch(/wrong +It gets worse along a text .* its rotary base/);
    expect(stderr).toContain('wrong: It puts a conversation in other words');
  });

  it('names damaged weights', async () => {
    const { code, stdout } = await hearth('eval', 'flipped', '--against', 'hearth-mini', '--json');
    const { findings } = JSON.parse(stdout);
    expect([code, findings.length]).toEqual([1, 1]);
    expect(findings[0]).toContain('damaged weights');
  });
});
