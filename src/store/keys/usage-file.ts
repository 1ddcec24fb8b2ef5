import path from 'node:path';
import { type Static, Type } from 'typebox';
import { readRecord, writeRecord } from '../../lib/files/record-file.ts';

export const KeyUsage = Type.Object({
  schema: Type.Literal(1),
  /** In UTC, such as 2026-11-23. */
  day: Type.String(),
  tokens: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
});
export type KeyUsage = Static<typeof KeyUsage>;

const usagePath = (home: string): string => path.join(home, 'key-usage.json');

/** Null if absent or unreadable: the count then starts at zero. */
export const readUsage = (home: string): Promise<KeyUsage | null> => readRecord(usagePath(home), KeyUsage);

export const writeUsage = (home: string, usage: KeyUsage): Promise<void> =>
  writeRecord(usagePath(home), usage);
