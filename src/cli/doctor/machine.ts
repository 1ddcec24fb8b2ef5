import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import path from 'node:path';
import { readable } from '../../lib/base/byte-size.ts';
import { type Check, type Finding, ok, problem, warning } from './finding.ts';

const GIB = 2 ** 30;
/** Chosen: a 4-billion-parameter model in four bits needs about this, with its context. */
const COMFORTABLE_BYTES = 4 * GIB;
const LEAST_DISK_BYTES = GIB / 2;
const COMFORTABLE_DISK_BYTES = 5 * GIB;

export interface MachineFiles {
  readonly read: (file: string) => string | null;
}

export const systemFiles: MachineFiles = {
  read: (file) => (existsSync(file) ? readFileSync(file, 'utf8') : null),
};

export function judgeNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return ok('Node', version);
  return problem('Node', `${version} is too old`, 'install Node 20.19 or newer');
}

/** llama.cpp chooses its library by these; without AVX2 it is several times slower. */
export function judgeProcessor(cpuInfo: string | null, arch: string, model: string, cores: number): Finding {
  const text = `${model.trim()}, ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  if (arch !== 'x64' || cpuInfo === null) return ok('processor', text);
  const flags = new Set((/^flags\s*:(.*)$/m.exec(cpuInfo)?.[1] ?? '').trim().split(/\s+/));
  const known = ['avx', 'avx2', 'fma', 'f16c', 'avx512f', 'avx512_vnni', 'avx512_bf16', 'amx_int8'];
  const has = known.filter((flag) => flags.has(flag));
  if (flags.has('avx2')) return ok('processor', `${text}; ${has.join(' ')}`);
  return warning(
    'processor',
    `${text}; no AVX2`,
    'expect few tokens per second; in a virtual machine, pass the host processor through',
  );
}

export function judgeMemory(memInfo: string | null, totalBytes: number, limitBytes: number): Finding {
  const available = /^MemAvailable:\s+(\d+) kB$/m.exec(memInfo ?? '')?.[1];
  const limited = limitBytes > 0 && limitBytes < totalBytes;
  const roof = limited ? limitBytes : totalBytes;
  const free = Math.min(available === undefined ? roof : Number(available) * 1024, roof);
  const text = `${readable(free)} of ${readable(roof)} available${limited ? ' (limited by a control group)' : ''}`;
  if (free >= COMFORTABLE_BYTES) return ok('memory', text);
  return warning('memory', text, 'end other programs, or choose models well below this size');
}

/** Weights in huge pages are read faster: about 15 per cent for one stream. */
export function judgeHugePages(enabled: string | null): Finding {
  if (enabled === null) return ok('huge pages', 'not on this system');
  const chosen = /\[(\w+)\]/.exec(enabled)?.[1] ?? 'unknown';
  if (chosen !== 'never') return ok('huge pages', chosen);
  return warning(
    'huge pages',
    'off, which costs speed',
    'as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled',
  );
}

export function judgeDisk(freeBytes: number, rotational: boolean): Finding {
  const text = `${readable(freeBytes)} free${rotational ? ', on a disk that rotates' : ''}`;
  if (freeBytes < LEAST_DISK_BYTES) {
    return problem(
      'disk',
      text,
      'free some space, or move the home folder with SVC_HOME; hearth prune may help',
    );
  }
  if (freeBytes < COMFORTABLE_DISK_BYTES)
    return warning('disk', text, 'a model of 8 billion parameters takes about 5 GB; hearth prune may help');
  if (rotational) return warning('disk', text, 'models load slowly from it; move the home folder to an SSD');
  return ok('disk', text);
}

export function machineChecks(home: string, files: MachineFiles = systemFiles): Check[] {
  const look = (about: string, judge: () => Finding): Check => ({ about, look: async () => judge() });
  return [
    look('Node', () => judgeNode(process.versions.node)),
    look('processor', () =>
      judgeProcessor(
        files.read('/proc/cpuinfo'),
        process.arch,
        cpus()[0]?.model ?? process.arch,
        availableParallelism(),
      ),
    ),
    look('memory', () => judgeMemory(files.read('/proc/meminfo'), totalmem(), process.constrainedMemory())),
    look('huge pages', () => judgeHugePages(files.read('/sys/kernel/mm/transparent_hugepage/enabled'))),
    {
      about: 'disk',
      look: async () => {
        const folder = existingParent(home);
        const { bavail, bsize } = await statfs(folder);
        return judgeDisk(bavail * bsize, await isRotational(folder, files));
      },
    },
  ];
}

/** A home that does not exist yet will be on the disk of this folder. */
export function existingParent(folder: string): string {
  let place = folder;
  while (!existsSync(place)) place = path.dirname(place);
  return place;
}

async function isRotational(folder: string, files: MachineFiles): Promise<boolean> {
  const { dev } = await stat(folder);
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
  const device = `/sys/dev/block/${major}:${minor}`;
  // A virtual disk reports wrong facts about the disk below it.
  const place = existsSync(device) ? realpathSync(device) : '';
  if (place === '' || /virt/.test(place)) return false;
  // A partition uses the queue of its disk.
  const text = files.read(`${device}/queue/rotational`) ?? files.read(`${device}/../queue/rotational`);
  return text?.trim() === '1';
}
