/** Bytes that are read whole as text, up to a limit. */
import type { Readable } from 'node:stream';

/** The text, or null where it is longer than the limit. */
export async function readText(
  body: Readable,
  limitBytes: number,
  onPiece: () => void = () => {},
): Promise<string | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    onPiece();
    size += part.length;
    if (size > limitBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
