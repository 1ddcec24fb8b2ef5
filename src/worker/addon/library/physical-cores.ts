/** Cores that compute: two hardware threads of one core share its arithmetic, and llama.cpp gains nothing from both. */
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

const CPUS = '/sys/devices/system/cpu';

/** All logical ones where the system does not tell them apart. */
export async function physicalCores(): Promise<number> {
  const names = await readdir(CPUS).catch(() => []);
  const siblings = await Promise.all(
    names
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => readFile(`${CPUS}/${name}/topology/thread_siblings_list`, 'utf8').catch(() => '')),
  );
  const cores = new Set(siblings.filter((text) => text !== ''));
  return cores.size > 0 ? cores.size : availableParallelism();
}
