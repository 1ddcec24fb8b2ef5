import type { Readable } from 'node:stream';
import { joinedInTurns } from '../../../../lib/json/bytes-in-turns.ts';

/** Null if the body exceeds the limit. */
export async function readBytes(
  body: Readable,
  limitBytes: number,
  onPiece: () => void = () => {},
): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    onPiece();
    size += part.length;
    if (size > limitBytes) return null;
    parts.push(part);
  }
  return joinedInTurns(parts, size);
}
