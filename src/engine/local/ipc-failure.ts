/** Rebuilds an error from what crossed the channel: from its own codes with their own details, and nothing else. */
import type { IpcFailure } from '../../contract/ipc.ts';
import { WORKER_CODES, type WorkerCode } from '../../contract/worker-failure.ts';
import { fail, reviveFailure, type SvcError } from '../../lib/errors/svc-error.ts';

const MAX_CHARS = 2_000;

/** The model is the one that the server asked for, whatever the worker calls it. */
export function errorOfFailure({ code, detail }: IpcFailure, modelId: string): SvcError {
  if (!isWorkerCode(code)) return defect(`unknown code of a worker: ${code.slice(0, 100)}`);
  const checked = reviveFailure(code, { ...shortened(detail), model: modelId });
  return checked ?? defect(`a worker failed with ${code}, and its detail is not that of the code`);
}

const defect = (reason: string): SvcError => fail('internal', { reason }, new Error(reason));

function isWorkerCode(code: string): code is WorkerCode {
  return WORKER_CODES.some((known) => known === code);
}

function shortened(detail: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, MAX_CHARS) : value,
    ]),
  );
}
