import type { StoredBlock } from './disk/block-folder.ts';
import type { PrefixNode } from './prefixes/prefix-tree.ts';
import type { Holding } from './prefixes/eviction-rank.ts';
import { type ReadState, rowPieces, type StateLayout } from './state-layout.ts';

export interface Slice {
  readonly state: ReadState;
  readonly start: number;
  readonly end: number;
}

export interface HeldState {
  readonly owner: string;
  readonly bytes: number;
  /** Null: a whole state, in llama.cpp's format. */
  readonly layout: StateLayout | null;
  readonly inRam: Holding;
  readonly onDisk: Holding;
  ram: Uint8Array | Slice | null;
  file: StoredBlock | null;
  pins: number;
  isPinned: boolean;
  gone: boolean;
}

export type HeldNode = PrefixNode<HeldState>;

export function newHeld(
  held: Pick<HeldState, 'owner' | 'bytes' | 'layout' | 'ram' | 'file'> & { readonly savesMs: number },
): HeldState {
  const { savesMs, ...rest } = held;
  const holding = (): Holding => ({ bytes: held.bytes, savesMs, rank: 0 });
  return { ...rest, inRam: holding(), onDisk: holding(), pins: 0, isPinned: false, gone: false };
}

export function piecesInRam(ram: Uint8Array | Slice): Iterable<Uint8Array> {
  return isCopied(ram) ? [ram] : rowPieces(ram.state, ram.start, ram.end);
}

export function isCopied(ram: Uint8Array | Slice): ram is Uint8Array {
  return ram instanceof Uint8Array;
}

/** Whether no other node would become unreachable. `keepsPinned`: memory may keep state at all. */
export function mayLeaveRam({ payload, children }: HeldNode, keepsPinned: boolean): boolean {
  if (payload.ram === null || payload.pins > 0 || (payload.isPinned && keepsPinned)) return false;
  return payload.file !== null || children.size === 0;
}

export function mayLeaveDisk({ payload, children }: HeldNode): boolean {
  if (payload.file === null || payload.pins > 0 || payload.isPinned) return false;
  if (payload.ram === null && children.size > 0) return false;
  return [...children].every((child) => child.payload.file === null);
}
