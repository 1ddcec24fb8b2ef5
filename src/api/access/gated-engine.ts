/** An engine that asks the gate of a submission before it takes it, and while it runs. */
import type { Engine } from '../../engine/ports.ts';

export function gatedEngine<E extends Pick<Engine, 'submit'>>(engine: E): E {
  const submit: Engine['submit'] = (submission, signal, listener) => {
    const { gate } = submission;
    if (gate === undefined) return engine.submit(submission, signal, listener);
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
    engine.submit({ ...submission, job, route }, AbortSignal.any([signal, stop.signal]), {
      onEvent: (event) => {
        if (isRefused) return;
        const refusal = admitted.onEvent(event);
        if (refusal === null) return listener.onEvent(event);
        isRefused = true;
        stop.abort();
        listener.onEnd(refusal);
      },
      onEnd: (failure) => {
        admitted.onEnd();
        if (!isRefused) listener.onEnd(failure);
      },
    });
  };
  // The methods of the engine keep their own `this`.
  return new Proxy(engine, {
    get: (of, name) => {
      if (name === 'submit') return submit;
      const value: unknown = Reflect.get(of, name);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
}
