import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { kindName } from '../../../lib/prompt-cache/kind.ts';
import { temporaryFolder } from '../../../../test/support/temp-home.ts';
import type { CliContext } from '../../context.ts';
import { registerCache } from './cache.ts';

async function said(home: string, ...args: string[]): Promise<string> {
  const lines: string[] = [];
  const say = (text: string): void => void lines.push(text);
  const context = {
    config: () => ({ home }),
    print: say,
    note: say,
    printJson: (value: unknown) => say(JSON.stringify(value)),
  } as unknown as CliContext;
  const program = new Command().exitOverride();
  registerCache(program, context);
  await program.parseAsync(['cache', ...args], { from: 'user' });
  return lines.join('\n');
}

it('shows what is on the disk, and removes it and nothing else', async () => {
  const home = await temporaryFolder();
  expect(await said(home)).toBe('There is no prompt state on the disk.');
  const kind = path.join(home, 'cache', kindName('a'.repeat(64), []));
  const identity = path.join(home, 'instance');
  for (const folder of [kind, identity]) mkdirSync(folder, { recursive: true });
  for (const name of ['one.kv', 'two.kv']) writeFileSync(path.join(kind, name), Buffer.alloc(512));
  expect(await said(home)).toMatch(/^\(not installed\) +\S+ \S+ +2 /m);
  const other = path.join(home, 'cache', kindName('a'.repeat(64), ['other']));
  mkdirSync(other);
  writeFileSync(path.join(other, 'three.kv'), Buffer.alloc(512));
  expect(await said(home)).toMatch(/^\(not installed\) +1\.5 KiB +3 /m);
  expect(JSON.parse(await said(home, '--json'))).toHaveLength(2);
  expect(await said(home, 'clear')).toContain('of prompt state removed');
  expect([existsSync(kind), existsSync(identity)]).toEqual([false, true]);
  expect(await said(home)).toBe('There is no prompt state on the disk.');
});
