/**
 * Measured memory and confirmed thread counts in SVC_HOME/tuning, per model, backend and CPU: a restart measures
 * nothing again, a change of any of the three does. Losing a file costs one measurement.
 */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { errnoCode } from '../../../lib/files/durable.ts';
import { readRecord, writeRecord } from '../../../lib/files/record-file.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import type { ModelTarget } from '../ports.ts';
import type { Tuning } from './memory-need.ts';
import { MemoryRecord } from './memory/memory-record.ts';
import { isLocal, type LocalSource, settingsKey } from './model-source.ts';

const TuningRecord = Type.Object({
  schema: Type.Literal(3),
  modelId: Type.String(),
  threads: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  memory: Type.Union([MemoryRecord, Type.Null()]),
});
/** Earlier format: its thread count remains valid; its memory is measured again because it had no devices or windows. */
const EarlierRecord = Type.Object({
  schema: Type.Union([Type.Literal(1), Type.Literal(2)]),
  modelId: TuningRecord.properties.modelId,
  threads: TuningRecord.properties.threads,
});
type TuningRecord = Static<typeof TuningRecord>;
const AnyRecord = Type.Union([TuningRecord, EarlierRecord]);

const RECORD_FILE = /^[0-9a-f]{32}\.json$/;

interface TuningOptions {
  readonly home: string;
  readonly backendSha256: () => string | null;
  readonly readOnly?: boolean;
  readonly log: Logger;
}

/** Reads all records at once, because plans are made while requests wait and must not wait for a disk. */
export async function openTuningFolder(options: TuningOptions): Promise<Tuning> {
  const folder = path.join(options.home, 'tuning');
  const known = await readRecords(folder);
  // Read once: it parses /proc/cpuinfo, and every request looks up a record.
  const cpu = `${cpus()[0]?.model ?? 'unknown'} ${availableParallelism()}`;
  const targetRecordName = (target: ModelTarget): string | null => {
    const backend = options.backendSha256();
    return backend === null || !isLocal(target) ? null : recordName(target.source, backend, cpu);
  };
  return {
    recall: (target) => {
      const name = targetRecordName(target);
      return name === null ? null : (known.get(name) ?? null);
    },
    remember: (target, measured) => {
      const name = targetRecordName(target);
      if (name === null) return;
      const record: TuningRecord = { schema: 3, modelId: target.modelId, ...measured };
      known.set(name, record);
      if (options.readOnly !== true) save(path.join(folder, `${name}.json`), record, options.log);
    },
  };
}

function recordName(source: LocalSource, backend: string, cpu: string): string {
  const weights = source.digest ?? `${source.path} ${source.weightsBytes}`;
  const settings = settingsKey(source);
  const named = [weights, backend, cpu, ...(settings === '' ? [] : [settings])];
  return createHash('sha256').update(named.join('\n')).digest('hex').slice(0, 32);
}

async function readRecords(folder: string): Promise<Map<string, TuningRecord>> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (errnoCode(error) === undefined) throw error;
    return [];
  });
  const read = async (file: string): Promise<[string, TuningRecord][]> => {
    const record = await readRecord(path.join(folder, file), AnyRecord);
    if (record === null) return [];
    const { modelId, threads } = record;
    const memory = 'memory' in record ? record.memory : null;
    return [[path.basename(file, '.json'), { schema: 3, modelId, threads, memory }]];
  };
  // In parallel, because the service does not listen until this is done.
  return new Map((await Promise.all(names.filter((name) => RECORD_FILE.test(name)).map(read))).flat());
}

function save(file: string, record: TuningRecord, log: Logger): void {
  writeRecord(file, record).catch((error: unknown) =>
    log.warn({ err: error, file }, 'A measurement could not be saved.'),
  );
}
