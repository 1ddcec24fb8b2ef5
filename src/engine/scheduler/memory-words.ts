/** What people are told when memory does not suffice. */
import { HOST_DEVICE } from '../../contract/memory.ts';
import { minus, type Shortage, shortage } from '../device-memory.ts';
import type { Memory } from '../ports.ts';

/** Why even the smallest load does not fit. */
export function whyTooLarge(need: Memory, free: Memory): string {
  const lack = shortage(need, free) ?? tightest(need, free);
  if (lack === null) return 'no smaller load is left to try';
  const [on, there] = lack.device === HOST_DEVICE ? ['', ''] : [` on ${lack.device}`, ' there'];
  return `it needs about ${lack.needBytes} bytes${on}, ${wholeBytes(lack.freeBytes)} are free${there}`;
}

/** What the native library said, with what had been planned against. */
export function whyNoRoom(reason: string, planned: Memory, free: Memory): string {
  return planned.length === 0 ? reason : `${reason}; ${whyTooLarge(planned, free)}`;
}

function tightest(need: Memory, free: Memory): Shortage | null {
  const [first] = [...minus(free, need)].sort((a, b) => a.bytes - b.bytes);
  if (first === undefined) return null;
  const on = (memory: Memory) => memory.find(({ device }) => device === first.device)?.bytes ?? 0;
  return { device: first.device, needBytes: on(need), freeBytes: on(free) };
}

function wholeBytes(bytes: number): number {
  return Math.max(0, Math.floor(bytes));
}
