/** The list of pinned prompts: a private file with lengths and digests of tokens, and no text. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { parseJson } from '../../lib/base/json.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { makeFolder, writeDurably } from '../../lib/files/durable.ts';
import { MOST_PINS, PinnedPrefix } from '../../lib/prompt-cache/pin.ts';
import { takeLock } from '../lock/owner-lock.ts';

export const PinRecord = Type.Object({
  id: Type.String({ pattern: '^pin_[0-9a-f]{12}$' }),
  model: Type.String(),
  digest: Type.Union([Type.String(), Type.Null()]),
  prefix: PinnedPrefix,
  bytes: Type.Integer({ minimum: 0 }),
  createdAt: Type.String(),
});
export type PinRecord = Static<typeof PinRecord>;

const PinFile = Type.Object({ schema: Type.Literal(1), pins: Type.Array(PinRecord, { maxItems: 10_000 }) });

const LOCK_WAIT_MS = 5_000;

const pinFilePath = (home: string): string => path.join(home, 'cache-pins.json');

export async function readPins(home: string): Promise<readonly PinRecord[]> {
  const file = pinFilePath(home);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw fail('pins_unusable', { path: file, reason: error.message });
  });
  if (text === null) return [];
  const value = parseJson(text);
  if (!Check(PinFile, value)) throw fail('pins_unusable', { path: file, reason: 'it is damaged' });
  return value.pins;
}

export async function addPin(home: string, record: PinRecord): Promise<void> {
  await change(home, (pins) => {
    if (pins.filter(({ model }) => model === record.model).length >= MOST_PINS)
      throw fail('pin_refused', { model: record.model, reason: 'too_many', limit: MOST_PINS });
    return [...pins, record];
  });
}

export async function removePin(home: string, id: string): Promise<void> {
  await change(home, (pins) => pins.filter((pin) => pin.id !== id));
}

async function change(
  home: string,
  edit: (pins: readonly PinRecord[]) => readonly PinRecord[],
): Promise<void> {
  await makeFolder(home);
  const file = pinFilePath(home);
  const what = 'The file of pinned prompts';
  const lock = await takeLock(`${file}.lock`, { purpose: 'hearth cache pin', what, waitMs: LOCK_WAIT_MS });
  try {
    const pins = edit(await readPins(home));
    await writeDurably(file, `${JSON.stringify({ schema: 1, pins }, null, 2)}\n`);
  } finally {
    await lock.release();
  }
}
