/** A real worker whose native calls and messages are recorded, in the order in which they happen. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadSpec } from '../../../src/contract/load.ts';
import { startTinyChat, type TestWorker } from './worker-harness.ts';

/** The rows of one sequence in a native call, padding included. */
export interface RecordedRows {
  readonly sequence: number;
  readonly position: number;
  readonly rows: number;
  readonly logits: number;
}

export interface RecordedCall {
  readonly call: readonly RecordedRows[];
}

export interface RecordedMessage {
  readonly message: string;
  readonly events: readonly { readonly jobId: string; readonly type: string }[];
}

export interface RecordedWorker {
  readonly worker: TestWorker;
  /** What happened while `work` ran. */
  during(work: () => Promise<unknown>): Promise<readonly (RecordedCall | RecordedMessage)[]>;
  end(): Promise<void>;
}

export async function startRecordedChat(load: Partial<LoadSpec>): Promise<RecordedWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-record-'));
  const file = join(folder, 'record.jsonl');
  const recorder = new URL('native-recorder.mjs', import.meta.url).href;
  // The environment of a child is built up from empty, so what it must not have comes in as a launcher.
  const launcher = ['/usr/bin/env', `NODE_OPTIONS=--import=${recorder}`, `HEARTH_NATIVE_RECORD=${file}`];
  const { worker, end } = await startTinyChat(load, { launcher });
  return {
    worker,
    during: async (work) => {
      writeFileSync(file, '');
      await work();
      const lines = readFileSync(file, 'utf8').split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
    },
    end: async () => {
      await end();
      await rm(folder, { recursive: true });
    },
  };
}

export const callsOf = (record: readonly (RecordedCall | RecordedMessage)[]): (readonly RecordedRows[])[] =>
  record.flatMap((entry) => ('call' in entry ? [entry.call] : []));

export const messagesOf = (record: readonly (RecordedCall | RecordedMessage)[]): RecordedMessage[] =>
  record.flatMap((entry) => ('message' in entry ? [entry] : []));
