/**
 * Copies rows out of the states that they came in. Such a state stays in memory whole while any of its rows is used;
 * the other rows are waste.
 */
import type { Pause } from './disk/block-folder.ts';
import { type HeldState, isCopied, type Slice } from './held-state.ts';
import { type ReadState, rowPieces, copyRows } from './state-layout.ts';

const COMPACT_BYTES = 1024 * 1024;
/** Chosen: less waste than this share of a state is not worth a copy of the rest. */
const LEAST_WASTE = 1 / 16;

interface CompactOptions {
  readonly limitBytes: number;
  /** Copy all rows; else only from mostly wasted memory, or from more if the limit is exceeded. */
  readonly all: boolean;
}

interface Wasting {
  readonly state: ReadState;
  readonly users: HeldState[];
  wasteBytes: number;
}

export async function compact(
  held: Iterable<HeldState>,
  { limitBytes, all }: CompactOptions,
  pause: Pause,
): Promise<void> {
  let heldBytes = 0;
  const byState = new Map<ReadState, Wasting>();
  for (const one of held) {
    if (one.ram === null) continue;
    heldBytes += one.bytes;
    if (isCopied(one.ram)) continue;
    const { state } = one.ram;
    const wasting = byState.get(state) ?? { state, users: [], wasteBytes: state.bytes.length };
    byState.set(state, wasting);
    wasting.users.push(one);
    wasting.wasteBytes -= one.bytes;
  }
  for (const { wasteBytes } of byState.values()) heldBytes += wasteBytes;
  for (const { state, users, wasteBytes } of [...byState.values()].sort(byWaste)) {
    const wasteShare = wasteBytes / state.bytes.length;
    const isDue = wasteShare > 0.5 || (heldBytes > limitBytes && wasteShare > LEAST_WASTE);
    if (!all && !isDue) continue;
    for (const user of users) await copyOut(user, pause);
    heldBytes -= wasteBytes;
  }
}

const byWaste = (a: Wasting, b: Wasting): number => b.wasteBytes - a.wasteBytes;

async function copyOut(held: HeldState, pause: Pause): Promise<void> {
  const { ram } = held;
  if (ram === null || isCopied(ram)) return;
  const isHeld = (): boolean => held.ram === ram && !held.gone;
  const rows = await copied(ram, { bytes: held.bytes, isHeld, pause });
  if (rows !== null && isHeld()) held.ram = rows;
}

interface CopyOptions {
  readonly bytes: number;
  readonly pause: Pause;
  isHeld(): boolean;
}

async function copied(
  { state, start, end }: Slice,
  { bytes, isHeld, pause }: CopyOptions,
): Promise<Uint8Array | null> {
  if (state.cellByToken !== null) {
    await pause();
    return isHeld() ? copyRows(state, start, end) : null;
  }
  const rows = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  let sincePause = COMPACT_BYTES;
  for (const piece of rowPieces(state, start, end)) {
    if (sincePause >= COMPACT_BYTES) {
      await pause();
      sincePause = 0;
    }
    if (!isHeld()) return null;
    rows.set(piece, at);
    at += piece.length;
    sincePause += piece.length;
  }
  return rows;
}
