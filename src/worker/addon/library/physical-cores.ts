/**
 * Number of cores that compute. Two hardware threads of one core share its arithmetic, and llama.cpp gains nothing
 * from both. Apple's slow cores do not count, because every step waits for its slowest thread.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import koffi from 'koffi';

const CPUS = '/sys/devices/system/cpu';
/** The first key that macOS knows counts: performance cores where there are two kinds. */
const MAC_COUNTS = ['hw.perflevel0.physicalcpu', 'hw.physicalcpu'];

export async function physicalCores(platform: string = process.platform): Promise<number> {
  return (await counted(platform)) ?? availableParallelism();
}

async function counted(platform: string): Promise<number | null> {
  if (platform === 'darwin') return macCores();
  if (platform === 'win32') return coresIn(windowsTopology());
  const names = await readdir(CPUS).catch(() => []);
  const siblings = await Promise.all(
    names
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => readFile(`${CPUS}/${name}/topology/thread_siblings_list`, 'utf8').catch(() => '')),
  );
  const cores = new Set(siblings.filter((text) => text !== ''));
  return cores.size > 0 ? cores.size : null;
}

async function macCores(): Promise<number | null> {
  for (const name of MAC_COUNTS) {
    const { stdout } = await promisify(execFile)('/usr/sbin/sysctl', ['-n', name]).catch(() => ({
      stdout: '',
    }));
    if (Number(stdout) > 0) return Number(stdout);
  }
  return null;
}

/** SYSTEM_LOGICAL_PROCESSOR_INFORMATION of 64-bit Windows: a mask, then the kind of the entry. */
const ENTRY_BYTES = 32;
const RELATION_OFFSET = 8;
const RELATION_CORE = 0;

export function coresIn(entries: Buffer): number | null {
  let cores = 0;
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES)
    if (entries.readUInt32LE(at + RELATION_OFFSET) === RELATION_CORE) cores += 1;
  return cores > 0 ? cores : null;
}

function windowsTopology(): Buffer {
  const tell = koffi
    .load('kernel32.dll')
    .func('bool __stdcall GetLogicalProcessorInformation(_Out_ uint8_t *entries, _Inout_ uint32_t *bytes)');
  const bytes = [0];
  tell(null, bytes);
  const entries = Buffer.alloc(bytes[0] ?? 0);
  return tell(entries, bytes) ? entries.subarray(0, bytes[0]) : Buffer.alloc(0);
}
