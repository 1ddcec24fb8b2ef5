/**
 * Groups streams by LoRA adapters: llama.cpp applies adapters to a whole context, so one step evaluates streams of
 * equal adapters only. Pure.
 */
import type { PreparedChat } from '../prepare.ts';

/** Equal for jobs that may share a step and KV state; empty without adapters. */
export function adapterKey(adapters: PreparedChat['job']['adapters']): string {
  return adapters.map(({ name, scale }) => `${name}=${scale}`).join(',');
}

export function stateOwner({ domain = '', adapters }: PreparedChat['job']): string {
  const key = adapterKey(adapters);
  return key === '' ? domain : `${domain}\n${key}`;
}

export interface CurrentGroup {
  readonly key: string;
  readonly sinceMs: number;
}

export interface GroupMember {
  readonly key: string;
  readonly waitingSinceMs: number;
}

/**
 * Changing adapters makes llama.cpp reserve its buffers again, some milliseconds, so a group keeps its turn for a
 * while; not for long, because the other streams wait.
 */
const TURN_MS = 100;

export function nextKey(members: readonly GroupMember[], current: CurrentGroup, nowMs: number): string {
  const own = members.filter(({ key }) => key === current.key);
  const first = longestWaiting(members.filter(({ key }) => key !== current.key));
  if (first === undefined || (own.length > 0 && nowMs - current.sinceMs < TURN_MS)) return current.key;
  return first.key;
}

function longestWaiting(members: readonly GroupMember[]): GroupMember | undefined {
  return members.reduce<GroupMember | undefined>(
    (first, member) => (first === undefined || member.waitingSinceMs < first.waitingSinceMs ? member : first),
    undefined,
  );
}
