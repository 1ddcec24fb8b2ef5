/** `hearth completion` and `hearth man`: read by the shells and by man themselves, where these are present. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settings } from '../../src/config/settings.ts';
import { SHELLS } from '../../src/cli/shell/completions.ts';
import { hearth } from '../support/process/hearth.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-shell-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;
const leftOut = (program: string): string => (has(program) ? '' : ` (left out: there is no ${program} here)`);

async function written(args: readonly string[], name: string): Promise<string> {
  const { code, stdout, stderr } = await hearth(args, {});
  expect([code, stderr]).toEqual([0, '']);
  const file = path.join(folder, name);
  await writeFile(file, stdout);
  return file;
}

const verbs = async (): Promise<string[]> => {
  const { stdout } = await hearth(['--help'], {});
  const names = [...stdout.matchAll(/^ {2}([a-z][\w-]*)(?:\|[\w-]+)?(?: |$)/gm)].map(([, name = '']) => name);
  return names.filter((name) => name !== 'help');
};

describe('completion', () => {
  it.for(SHELLS)('for %s is read without a fault, if it is there', async (shell, { skip }) => {
    const file = await written(['completion', shell], shell);
    skip(!has(shell), `there is no ${shell} here`);
    const { status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  const completed = (file: string, line: string): string[] => {
    const words = line.split(' ');
    const script = `source "$1"; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _hearth; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', file], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  };

  it.skipIf(!has('bash'))(
    `in bash knows every verb, their verbs, options and choices${leftOut('bash')}`,
    async () => {
      const file = await written(['completion', 'bash'], 'bash');
      const known = completed(file, 'hearth ');
      const wanted = await verbs();
      expect(wanted.length).toBeGreaterThan(20);
      for (const verb of wanted) expect(known).toContain(verb);
      expect(completed(file, 'hearth serv')).toEqual(['serve', 'service']);
      expect(completed(file, 'hearth evidence ver')).toEqual(['verify']);
      expect(completed(file, 'hearth --dev service inst')).toEqual(['install']);
      expect(completed(file, 'hearth ls --js')).toEqual(['--json']);
      expect(completed(file, 'hearth service install --for sys')).toEqual(['systemd-user', 'systemd-system']);
    },
  );

  it('refuses a shell that it does not know', async () => {
    expect((await hearth(['completion', 'csh'], {})).code).toBe(2);
  });
});

describe('the manual page', () => {
  it('names every verb and every setting', async () => {
    const { stdout } = await hearth(['man'], {});
    for (const verb of await verbs()) expect(stdout).toMatch(new RegExp(`^\\.SS "hearth ${verb}[ "]`, 'm'));
    for (const { env } of Object.values(settings)) expect(stdout).toContain(`.B ${env}`);
  });

  it('explains every argument and every option', async () => {
    const { stdout } = await hearth(['man'], {});
    expect(stdout.match(/^\.TP$/gm)?.length).toBeGreaterThan(150);
    expect(stdout.match(/^\.TP\n\.B .+\n(?:$|\.)/gm)).toBeNull();
  });

  it.skipIf(!has('man'))(`is read without a warning${leftOut('man')}`, async () => {
    const file = await written(['man'], 'hearth.1');
    const { status, stdout, stderr } = spawnSync('man', ['--warnings', '-l', file], {
      encoding: 'utf8',
      env: { ...process.env, MANWIDTH: '120', LC_ALL: 'C.UTF-8' },
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('hearth service install [options]');
    expect(stdout).toMatch(/^\s+--no-start$/m);
  });
});
