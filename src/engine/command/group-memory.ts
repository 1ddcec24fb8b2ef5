/** What the processes of a group hold in memory, where the kernel tells. */
import { readdir, readFile } from 'node:fs/promises';

/** Bytes; null where this cannot be known. */
export async function groupMemory(group: number): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(pids.map((pid) => residentBytes(pid, group)));
  const sum = sizes.reduce((total, size) => total + size, 0);
  return sum === 0 ? null : sum;
}

/** 0 for a process of another group, and for one that has just ended. */
async function residentBytes(pid: string, group: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[2]) !== group) return 0;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
