/**
 * On Linux a child is started through `setpriv` and `prlimit` where util-linux has them: the kernel then kills the
 * child when the server dies, even a child that is stuck or stopped, and a crash leaves no core file with prompts in it.
 * Both replace themselves by the child, so the process id stays the same. Nothing here is required. On Windows a job
 * object has the same effect, and no words are needed.
 */
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { tieChildren } from './job-object.ts';

const run = promisify(execFile);
const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** The words to put before `node`; empty where the tools are missing or too old. */
export async function findLauncher(platform: string): Promise<readonly string[]> {
  await tieChildren(platform);
  if (platform !== 'linux') return [];
  const setpriv = await locate('setpriv');
  const prlimit = await locate('prlimit');
  const words: string[] = [];
  // The variant of busybox lacks these options, so each tool proves itself on a command that does nothing.
  for (const prefix of [
    setpriv ? [setpriv, '--no-new-privs', '--pdeathsig', 'KILL', '--'] : [],
    prlimit ? [prlimit, '--core=0:0', '--'] : [],
  ])
    if (prefix.length > 0 && (await works(prefix))) words.push(...prefix);

  return words;
}

async function locate(tool: string): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const file = `${folder}/${tool}`;
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}

async function works(prefix: readonly string[]): Promise<boolean> {
  const [command = '', ...args] = prefix;
  const nothing = await locate('true');
  if (nothing === undefined) return false;
  return run(command, [...args, nothing], { env: {}, timeout: 5_000 }).then(
    () => true,
    () => false,
  );
}
