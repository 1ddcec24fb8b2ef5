import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../lib/base/logger.ts';
import type { ModelTarget } from '../ports.ts';
import { fileTarget } from './model-source.ts';
import { openTuningFolder } from './tuning-folder.ts';

const size = { cells: 512, sequences: 4, unified: true, memory: [{ device: 'CPU', bytes: 30 }] };
const memory = {
  options: '',
  reckoned: [size],
  processBytes: 10,
  loaded: { ...size, contextBytes: 20 },
  refused: null,
};
const measured = { threads: 2, memory };
const target = (digest: string): ModelTarget =>
  fileTarget({ modelId: 'm', kind: 'chat' }, { path: '/m.gguf', digest, threads: null });
const newHome = () => mkdtempSync(path.join(tmpdir(), 'hearth-tuning-'));
const open = (home: string, backend: string | null) =>
  openTuningFolder({ home, backendSha256: () => backend, log: silentLogger });
/** Records that are complete; the folder and its files are written behind the caller's back. */
const files = (home: string) =>
  (existsSync(path.join(home, 'tuning')) ? readdirSync(path.join(home, 'tuning')) : []).filter((name) =>
    name.endsWith('.json'),
  );

describe('the tuning folder', () => {
  it('recalls without reading, what it read when it was opened', async () => {
    const home = newHome();
    (await open(home, 'b1')).remember(target('d1'), measured);
    await expect.poll(() => files(home)).toHaveLength(1);
    const tuning = await open(home, 'b1');
    rmSync(path.join(home, 'tuning'), { recursive: true });
    expect(tuning.recall(target('d1'))).toMatchObject(measured);
  });

  it('recalls a measurement after a restart, for the same model and backend only', async () => {
    const home = newHome();
    (await open(home, 'b1')).remember(target('d1'), measured);
    await expect.poll(() => files(home)).toHaveLength(1);
    expect((await open(home, 'b1')).recall(target('d1'))).toMatchObject(measured);
    expect((await open(home, 'b2')).recall(target('d1'))).toBeNull();
    expect((await open(home, 'b1')).recall(target('d2'))).toBeNull();
  });

  it('measures again when a record is damaged', async () => {
    const home = newHome();
    (await open(home, 'b1')).remember(target('d1'), measured);
    await expect.poll(() => files(home)).toHaveLength(1);
    writeFileSync(path.join(home, 'tuning', files(home)[0] ?? ''), '{"threads":"many"}');
    expect((await open(home, 'b1')).recall(target('d1'))).toBeNull();
  });

  it.each([
    ['no devices', { schema: 1, fixedBytes: 10, contextBytes: 20, numCtx: 8, sequences: 1 }],
    ['no shared cells', { schema: 2, memory: null }],
  ])('takes the thread count of a record that knew %s, and measures the memory anew', async (_, earlier) => {
    const home = newHome();
    (await open(home, 'b1')).remember(target('d1'), measured);
    await expect.poll(() => files(home)).toHaveLength(1);
    const old = { ...earlier, modelId: 'm', threads: 2 };
    writeFileSync(path.join(home, 'tuning', files(home)[0] ?? ''), JSON.stringify(old));
    expect((await open(home, 'b1')).recall(target('d1'))).toMatchObject({ threads: 2, memory: null });
  });

  it('keeps nothing while the backend is not known', async () => {
    const tuning = await open(newHome(), null);
    tuning.remember(target('d1'), measured);
    expect(tuning.recall(target('d1'))).toBeNull();
  });
});
