import type { Job } from '../../contract/job.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import { collectEvents } from '../engine/collect.ts';
import type { Engine } from '../engine/ports.ts';
import { type Caller, clientFields } from './caller.ts';
import { readKeepAlive } from './generation/parameters.ts';
import type { ServedModel } from './models/served-model.ts';

export interface WholeRun {
  readonly model: ServedModel;
  readonly job: Job;
  readonly caller: Caller;
  readonly keepAlive: string | number | null | undefined;
}

export async function runWhole(
  engine: Pick<Engine, 'submit'>,
  { model, job, caller, keepAlive }: WholeRun,
): Promise<JobEvent[]> {
  const { account, signal } = caller;
  const keepAliveMs = readKeepAlive(keepAlive ?? model.defaults.keepAlive);
  const { route } = caller;
  const submission = {
    target: model.target(),
    job,
    route,
    ...clientFields(caller),
    numCtx: null,
    keepAliveMs,
  };
  account?.onModel(model.id);
  return collectEvents((listener) =>
    engine.submit(submission, signal, {
      onEvent: (event) => {
        account?.onEvent(event);
        listener.onEvent(event);
      },
      onEnd: (failure) => listener.onEnd(failure),
    }),
  );
}
