import { ownTurn } from './own-turn.ts';
import { isUtf8InTurns } from './bytes-in-turns.ts';
import { type JsonLimits, JsonScan, requireUtf8 } from './json-scan.ts';
import { JsonValues } from './json-values.ts';
import type { KnownMember } from './known-member.ts';
import { parseJson } from './strict-json.ts';

/** Chosen: a few milliseconds even if every byte is a value. */
const SLICE_BYTES = 32 * 1024;

export async function parseJsonInTurns(bytes: Buffer, shared?: KnownMember): Promise<unknown> {
  if (bytes.length <= SLICE_BYTES) return parseJson(bytes, shared);
  requireUtf8(await isUtf8InTurns(bytes));
  const values = new JsonValues(bytes);
  const scan = new JsonScan(bytes, { shared, values, isChecked: true });
  for (let end = SLICE_BYTES; !scan.advance(end); end += SLICE_BYTES) await ownTurn();
  const { root } = values;
  const { place } = scan;
  if (shared !== undefined && place !== undefined && place.known === undefined) {
    const value = (root as Readonly<Record<string, unknown>>)[shared.name];
    shared.remember(bytes.subarray(place.start, place.end), value, place.tokens);
  }
  return root;
}

/**
 * Like JSON.parse, for a document of another service: parses one slice per turn. Throws invalid_json if it is invalid
 * or above the limits.
 */
export async function parseAnswerInTurns(bytes: Buffer, limits: JsonLimits): Promise<unknown> {
  requireUtf8(await isUtf8InTurns(bytes));
  const values = new JsonValues(bytes);
  const scan = new JsonScan(bytes, { values, limits, takesAnyKeys: true, isChecked: true });
  let end = 0;
  do {
    await ownTurn();
    end += SLICE_BYTES;
  } while (!scan.advance(end));
  return values.root;
}
