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
export function tieChildren(platform: string): Promise<boolean> {
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
