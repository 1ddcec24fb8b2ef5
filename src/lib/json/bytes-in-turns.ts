/** Processes large bodies in slices, so that the event loop can turn in between. */
import { isUtf8 } from 'node:buffer';
import { ownTurn } from './own-turn.ts';

/** Chosen: copying or checking a slice takes a few milliseconds on a busy machine. */
const SLICE_BYTES = 4 * 1024 * 1024;
const MOST_TRAILING = 3;

/** Like Buffer.concat, but releases each part once copied. */
export async function joinedInTurns(parts: Buffer[], size: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  let turn = SLICE_BYTES;
  for (const [index, part] of parts.entries()) {
    at += part.copy(whole, at);
    parts[index] = EMPTY;
    if (at < turn) continue;
    turn = at + SLICE_BYTES;
    await ownTurn();
  }
  return whole;
}

const EMPTY = Buffer.alloc(0);

export async function isUtf8InTurns(bytes: Buffer): Promise<boolean> {
  for (let from = 0; from < bytes.length; await ownTurn()) {
    const end = endOfCharacter(bytes, from + SLICE_BYTES);
    if (!isUtf8(bytes.subarray(from, end))) return false;
    from = end;
  }
  return true;
}

function endOfCharacter(bytes: Buffer, end: number): number {
  if (end >= bytes.length) return bytes.length;
  for (let back = 0; back <= MOST_TRAILING; back += 1)
    if (((bytes[end - back] as number) & 0xc0) !== 0x80) return end - back;
  return end;
}
