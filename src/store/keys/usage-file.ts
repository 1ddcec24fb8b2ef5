import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { writeDurably } from '../../lib/files/durable.ts';

export const KeyUsage = Type.Object({
  schema: Type.Literal(1),
  /** In UTC, such as 2026-11-23. */
  day: Type.String(),
  tokens: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
});
export type KeyUsage = Static<typeof KeyUsage>;

const usagePath = (home: string): string => path.join(home, 'key-usage.json');

/** Null if absent or unreadable: the count then starts at zero. */
export async function readUsage(home: string): Promise<KeyUsage | null> {
  try {
    const value: unknown = JSON.parse(await readFile(usagePath(home), 'utf8'));
    return Check(KeyUsage, value) ? value : null;
  } catch {
    return null;
  }
}

export async function writeUsage(home: string, usage: KeyUsage): Promise<void> {
  await writeDurably(usagePath(home), `${JSON.stringify(usage)}\n`);
}
