/**
 * What loads measured (memory, threads), kept under SVC_HOME/tuning per model, backend and CPU: a restart does
 * not measure again, a change of any of the three does. Losing a file costs one measurement.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import path from 'node:path';
import { type Static, Type } from '#typebox';
import { Check } from '#typebox/value';
import { makeFolder, writeDurably } from '../../lib/files/durable.ts';
import type { Logger } from '../../lib/base/logger.ts';
import type { ModelTarget } from '../ports.ts';
import type { Tuning } from './memory-need.ts';
import { isLocal, type LocalSource } from './model-source.ts';

const TuningRecord = Type.Object({
  schema: Type.Literal(1),
  modelId: Type.String(),
  threads: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  fixedBytes: Type.Number({ minimum: 0 }),
  contextBytes: Type.Number({ minimum: 0 }),
  numCtx: Type.Integer({ minimum: 1 }),
  sequences: Type.Integer({ minimum: 1 }),
});
export type TuningRecord = Static<typeof TuningRecord>;

export interface TuningOptions {
  readonly home: string;
  /** The hash of the bound backend; null while it is not known, and then nothing is recalled or kept. */
  readonly backendSha256: () => string | null;
  readonly log: Logger;
}

export function openTuningFolder(options: TuningOptions): Tuning {
  const known = new Map<string, TuningRecord | null>();
  const recordFile = (target: ModelTarget): string | null => {
    const backend = options.backendSha256();
    return backend === null || !isLocal(target)
      ? null
      : path.join(options.home, 'tuning', `${recordName(target.source, backend)}.json`);
  };
  return {
    recall: (target) => {
      const file = recordFile(target);
      if (file === null) return null;
      if (!known.has(file)) known.set(file, readRecord(file));
      return known.get(file) ?? null;
    },
    remember: (target, measured) => {
      const file = recordFile(target);
      if (file === null) return;
      const record: TuningRecord = { schema: 1, modelId: target.modelId, ...measured };
      known.set(file, record);
      save(file, record, options.log);
    },
  };
}

/** 128 bits are plenty to tell the models of one machine apart. */
function recordName(source: LocalSource, backend: string): string {
  const weights = source.digest ?? `${source.path} ${source.weightsBytes}`;
  const cpu = `${cpus()[0]?.model ?? 'unknown'} ${availableParallelism()}`;
  return createHash('sha256').update([weights, backend, cpu].join('\n')).digest('hex').slice(0, 32);
}

/** Reads a record of this file name; what is absent or damaged is simply measured again. */
export function readRecord(file: string): TuningRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Check(TuningRecord, value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code !== undefined) return null;
    throw error;
  }
}

function save(file: string, record: TuningRecord, log: Logger): void {
  const write = async (): Promise<void> => {
    await makeFolder(path.dirname(file));
    await writeDurably(file, `${JSON.stringify(record, null, 2)}\n`);
  };
  write().catch((error: unknown) => log.warn({ err: error, file }, 'A measurement could not be kept.'));
}
