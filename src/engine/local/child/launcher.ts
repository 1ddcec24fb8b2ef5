/**
 * On Linux a child is started through `setpriv` and `prlimit` where util-linux has them: the kernel then kills the
 * child when the server dies, even a child that is stuck or stopped, and a crash leaves no core file with prompts in it.
 * Both replace themselves by the child, so the process id stays the same. Nothing here is required. On Windows a job
 * object has the same effect, and no words are needed.
 */
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';

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

/**
 * On Windows every child must die with the server, also one that is stuck in native code: the server puts itself into a job,
 * which its children join, and which the system ends with the last handle to it.
 */
const LIMIT_KILL_ON_CLOSE = 0x2000;
const EXTENDED_LIMITS = 9;
/** JOBOBJECT_EXTENDED_LIMIT_INFORMATION on 64-bit Windows: its size, and where its flags stand. */
const LIMITS_BYTES = 144;
const FLAGS_OFFSET = 16;

let isTied: Promise<boolean> | undefined;

/** Once per process; false where the system has no jobs or refuses one, and children then only watch their connection. */
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
  // The handle is never closed here: the system does, when this process ends in whatever way.
  return Boolean(set(job, EXTENDED_LIMITS, limits, limits.length)) && Boolean(assign(job, self()));
}
