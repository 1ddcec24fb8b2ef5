import type { EngineStage } from '../../engine/stages.ts';

export const admission: EngineStage = {
  take(submission, signal, listener, next) {
    const { gate } = submission;
    if (gate === undefined) return next(submission, signal, listener);
    let admitted: ReturnType<typeof gate.admit>;
    try {
      admitted = gate.admit(submission);
    } catch (error) {
      return queueMicrotask(() => listener.onEnd(error as Error));
    }
    const stop = new AbortController();
    let isRefused = false;
    const { job, isLocalOnly = false } = admitted;
    const route = isLocalOnly ? { ...submission.route, isLocalOnly } : submission.route;
    next({ ...submission, job, route }, AbortSignal.any([signal, stop.signal]), {
      onEvent: (event) => {
        if (isRefused) return;
        const refusal = admitted.onEvent(event);
        if (refusal === null) return listener.onEvent(event);
        isRefused = true;
        stop.abort();
        listener.onEnd(refusal);
      },
      room: () => listener.room?.(),
      onEnd: (failure) => {
        admitted.onEnd();
        if (!isRefused) listener.onEnd(failure);
      },
    });
  },
};
