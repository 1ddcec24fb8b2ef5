import type { Job } from '../contract/job.ts';
import type { JobEvent } from '../contract/job-event.ts';
import { collectEvents } from '../engine/collect.ts';
import type { Engine } from '../engine/ports.ts';
import type { Caller } from './caller.ts';
import { readKeepAlive } from './generation/parameters.ts';
import type { ServedModel } from './models/served-model.ts';

export interface WholeRun {
  readonly model: ServedModel;
  readonly job: Job;
  readonly caller: Caller;
  /** As the request has it. */
  readonly keepAlive: string | number | null | undefined;
}

/** Runs a job whose answer is wanted at once, in the model's usual window, and enters what came of it in the caller's account. */
export async function runWhole(
  engine: Pick<Engine, 'submit'>,
  { model, job, caller, keepAlive }: WholeRun,
): Promise<JobEvent[]> {
  caller.account?.onModel(model.id);
  const { clientKey, signal } = caller;
  const keepAliveMs = readKeepAlive(keepAlive ?? model.defaults.keepAlive);
  const submission = { target: model.target(), job, clientKey, numCtx: null, keepAliveMs };
  const events = await collectEvents((listener) => engine.submit(submission, signal, listener));
  for (const event of events) caller.account?.onEvent(event);
  return events;
}
