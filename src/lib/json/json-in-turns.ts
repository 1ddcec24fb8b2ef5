/** Reads a large JSON document and lets the event loop turn meanwhile. */
import { setImmediate as turn } from 'node:timers/promises';
import { JsonScan } from './json-scan.ts';
import type { KnownMember } from './known-member.ts';
import { readScanned } from './strict-json.ts';

/** Bytes that are scanned before others have their turn, which is a millisecond. */
const SLICE_BYTES = 64 * 1024;

/** As `parseJson` does; JSON.parse itself, at the end, cannot be interrupted. */
export async function parseJsonInTurns(bytes: Buffer, shared?: KnownMember): Promise<unknown> {
  const scan = new JsonScan(bytes, shared);
  for (let end = SLICE_BYTES; !scan.advance(end); end += SLICE_BYTES) await turn();
  if (bytes.length > SLICE_BYTES) await turn();
  return readScanned(bytes, scan.place, shared);
}
