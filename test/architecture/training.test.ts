/** The text that the built-in models learn from is generated: by a seed, and checked by hash. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(path.join(tmpdir(), 'hearth-training-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hasPython = spawnSync('python3', ['--version']).status === 0;

it.runIf(hasPython)('training text is what its hashes say, and a changed generator shows', () => {
  cpSync('training', folder, { recursive: true });
  const check = () => spawnSync('python3', ['corpus.py', '--check'], { cwd: folder, encoding: 'utf8' });
  expect(check()).toMatchObject({ status: 0, stdout: '' });
  const file = path.join(folder, 'lookalikes', 'words.txt');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^./, 'Z'));
  expect(check()).toMatchObject({ status: 1, stdout: 'changed: lookalikes\n' });
});
