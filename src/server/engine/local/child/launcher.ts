/**
 * On Linux a child starts through `setpriv` and `prlimit` if util-linux is installed: the kernel then kills the child
 * when the server dies, even a stuck or stopped child, and a crash leaves no core file with prompts. Both exec the
 * child, so the process id stays the same. Nothing here is required. On Windows a job object has the same effect.
 */
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export async function findLauncher(platform: string): Promise<readonly string[]> {
  await tieChildren(platform);
  if (platform !== 'linux') return [];
  const setpriv = await locate('setpriv');
  const prlimit = await locate('prlimit');
  const words: string[] = [];
  // Busybox variants lack these options, so each tool is tested on a command that does nothing.
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

/**
 * On Windows every child must die with the server, even one stuck in native code: the server assigns itself to a job,
 * its children join it, and the system ends them with the last handle.
 */
const LIMIT_KILL_ON_CLOSE = 0x2000;
const EXTENDED_LIMITS = 9;
/** Size and flags offset of JOBOBJECT_EXTENDED_LIMIT_INFORMATION on 64-bit Windows. */
const LIMITS_BYTES = 144;
const FLAGS_OFFSET = 16;

let isTied: Promise<boolean> | undefined;

/** Runs once per process. False if the system has no jobs or refuses one; children then only watch their connection. */
function tieChildren(platform: string): Promise<boolean> {
  isTied ??= platform === 'win32' ? joinNewJob() : Promise.resolve(false);
  return isTied;
}

async function joinNewJob(): Promise<boolean> {
  const { default: koffi } = await import('koffi');
  const kernel = koffi.load('kernel32.dll');
  const create = kernel.func('void * __stdcall CreateJobObjectW(void *attributes, const char16_t *name)');
  const set = kernel.func(
    'bool __stdcall SetInformationJobObject(void *job, int kind, const uint8_t *information, uint32_t bytes)',
  );
  const assign = kernel.func('bool __stdcall AssignProcessToJobObject(void *job, void *process)');
  const self = kernel.func('void * __stdcall GetCurrentProcess()');
  const job: unknown = create(null, null);
  if (job === null) return false;
  const limits = Buffer.alloc(LIMITS_BYTES);
  limits.writeUInt32LE(LIMIT_KILL_ON_CLOSE, FLAGS_OFFSET);
  // The handle is never closed here: the system closes it when this process ends, however that happens.
  return Boolean(set(job, EXTENDED_LIMITS, limits, limits.length)) && Boolean(assign(job, self()));
}
