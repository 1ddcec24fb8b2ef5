/** The state of the engine for a key that may not see who else asks: every job, and no name but its own. Pure. */
import type { EngineState } from '../../wire/operation/engine-state.ts';

/** Of the whole state, or of a merge patch of it. */
export function withOwnClients<State extends Partial<EngineState>>(state: State, name: string): State {
  const { clients, jobs } = state;
  return {
    ...state,
    ...(clients === undefined ? {} : { clients: clients.filter(({ client }) => client === name) }),
    ...(jobs === undefined
      ? {}
      : { jobs: Object.fromEntries(Object.entries(jobs).map(([id, job]) => [id, ownOnly(job, name)])) }),
  };
}

/** A patch has null where a job is over. */
function ownOnly<Job extends EngineState['jobs'][string] | null>(job: Job, name: string): Job {
  if (job === null || job.client === name) return job;
  const { client: _, ...rest } = job;
  return rest as Job;
}
