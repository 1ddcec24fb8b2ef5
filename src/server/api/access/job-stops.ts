import type { EngineStage } from '../../engine/stages.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { shownJobId } from '../caller.ts';

export interface JobStops extends EngineStage {
  /**
   * Ends an open job with `stopped_by_operator`. The id is the one that the engine's state shows; false: no such job.
   */
  stop(shownId: string): boolean;
}

export function createJobStops(): JobStops {
  const open = new Map<string, AbortController>();
  return {
    take(submission, signal, listener, next) {
      const id = shownJobId(submission.job.jobId);
      const stop = new AbortController();
      open.set(id, stop);
      // Not AbortSignal.any: it is slow, and its signals are not collected while they have listeners.
      const leave = (): void => stop.abort();
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
      next(submission, stop.signal, {
        onEvent: (event) => listener.onEvent(event),
        room: () => listener.room?.(),
        onEnd: (failure) => {
          if (open.get(id) === stop) open.delete(id);
          signal.removeEventListener('abort', leave);
          const isStopped = failure !== null && stop.signal.aborted && !signal.aborted;
          listener.onEnd(isStopped ? fail('stopped_by_operator') : failure);
        },
      });
    },
    stop(shownId) {
      const job = open.get(shownId);
      job?.abort();
      return job !== undefined;
    },
  };
}
