import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../lib/base/logger.ts';
import type { ModelTarget } from '../ports.ts';
import { fileTarget } from './model-source.ts';
import { openTuningFolder } from './tuning-folder.ts';

const measured = { threads: 2, fixedBytes: 10, contextBytes: 20, numCtx: 512, sequences: 4 };
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
  it('recalls a measurement after a restart, for the same model and backend only', async () => {
    const home = newHome();
    open(home, 'b1').remember(target('d1'), measured);
    await vi.waitUntil(() => files(home).length === 1);
    expect(open(home, 'b1').recall(target('d1'))).toMatchObject(measured);
    expect(open(home, 'b2').recall(target('d1'))).toBeNull();
    expect(open(home, 'b1').recall(target('d2'))).toBeNull();
  });

  it('measures again when a record is damaged', async () => {
    const home = newHome();
    open(home, 'b1').remember(target('d1'), measured);
    await vi.waitUntil(() => files(home).length === 1);
    writeFileSync(path.join(home, 'tuning', files(home)[0] ?? ''), '{"threads":"many"}');
    expect(open(home, 'b1').recall(target('d1'))).toBeNull();
  });

  it('keeps nothing while the backend is not known', () => {
    const tuning = open(newHome(), null);
    tuning.remember(target('d1'), measured);
    expect(tuning.recall(target('d1'))).toBeNull();
  });
});
