/**
 * What a power cut may leave is decided by the order of system calls: a name must not come to stand for bytes that were not
 * synced, and a change is over only when its folder was synced. Recorded with strace, for every file that is kept.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { leftOut } from '../../support/left-out.ts';
import { bundleScript } from '../../support/process/bundle.ts';
import { temporaryFolder, writeChat } from '../../support/temp-home.ts';

const hasStrace = spawnSync('strace', ['-V']).status === 0 && spawnSync('strace', ['true']).status === 0;
const TRACED =
  'rename,renameat,renameat2,link,linkat,fsync,fdatasync,write,pwrite64,copy_file_range,unlink,unlinkat';

/** What is kept, by the end of its path. */
const KINDS = [
  /instance\/key\.pem$/,
  /instance\/id$/,
  /rotations\/\d+\.json$/,
  /manifests\/.*\.json$/,
  /blobs\/sha256-/,
  /responses\/.*\.json$/,
];

let script: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  if (hasStrace) script = await bundleScript(new URL('./drivers/durable-files.ts', import.meta.url));
  return () => script?.remove();
});

describe.runIf(hasStrace)(
  `every name that is given to bytes${leftOut(hasStrace, 'strace cannot run here')}`,
  () => {
    it('is given after they are synced, and lasts before the change counts as done', async () => {
      const home = path.join(await temporaryFolder(), 'home');
      await mkdir(home);
      const log = path.join(path.dirname(home), 'calls');
      const model = await writeChat(path.dirname(home));
      const args = ['-f', '-y', '-qq', '-s', '0', '-e', `trace=${TRACED}`, '-o', log, process.execPath];
      execFileSync('strace', [...args, script.path, home, model], { stdio: 'pipe' });
      const { faults, named } = judge((await readFile(log, 'utf8')).split('\n'), home);
      expect(faults).toEqual([]);
      const missing = KINDS.filter((kind) => !named.some((name) => kind.test(name)));
      expect(missing).toEqual([]);
    });
  },
);

/** Follows the files below the home through the calls. */
function judge(lines: readonly string[], home: string): { faults: string[]; named: string[] } {
  const unsynced = new Set<string>();
  const pending = new Map<string, string>();
  const faults: string[] = [];
  const named: string[] = [];
  for (const line of joined(lines)) {
    const [, call = '', rest = ''] = /^\d+\s+(\w+)\((.*)$/.exec(line) ?? [];
    if (/= -1 /.test(rest)) continue;
    const file = /<([^>]+)>/.exec(rest)?.[1] ?? '';
    const paths = [...rest.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
    if (/write|copy_file_range/.test(call) && file.startsWith(home)) unsynced.add(targetOf(call, rest));
    if (call.endsWith('sync')) {
      unsynced.delete(file);
      pending.delete(file);
    }
    if (!/^(?:rename|link)/.test(call)) continue;
    const [from = '', to = ''] = paths;
    if (!to.startsWith(home) || isPassing(to)) continue;
    named.push(to);
    if (unsynced.has(from)) faults.push(`${to} was named before its bytes were synced`);
    pending.set(path.dirname(to), to);
  }
  for (const name of pending.values()) faults.push(`the folder of ${name} was never synced`);
  return { faults, named };
}

/** Locks are of the living only. */
const isPassing = (name: string): boolean => /\.lock$|\.guard$|writer/.test(name);

/** copy_file_range names its source first. */
function targetOf(call: string, rest: string): string {
  const files = [...rest.matchAll(/<([^>]+)>/g)].map(([, name = '']) => name);
  return (call === 'copy_file_range' ? files[1] : files[0]) ?? '';
}

/** A call that another thread interrupted stands in two lines. */
function* joined(lines: readonly string[]): Generator<string> {
  const begun = new Map<string, string>();
  for (const line of lines) {
    const [, pid = ''] = /^(\d+)\s/.exec(line) ?? [];
    if (line.endsWith('<unfinished ...>')) begun.set(pid, line.slice(0, -'<unfinished ...>'.length));
    else if (/<\.\.\. \w+ resumed>/.test(line))
      yield (begun.get(pid) ?? `${pid} `) + line.replace(/^.*resumed>/, '');
    else yield line;
  }
}
