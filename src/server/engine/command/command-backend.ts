/**
 * server/engine/command owns engines that are a user's command: a server that Hearth starts on loopback for one model, and
 * ends with its whole process group. The scheduler loads, evicts and retries it like any model. It does not know what
 * the command does; jobs reach it as they reach an upstream.
 */
import type { Clock } from '../../../lib/base/clock.ts';
import { fail, isFailure } from '../../../lib/errors/svc-error.ts';
import { HOST_DEVICE } from '../../../contract/memory.ts';
import type { Job } from '../../../contract/job.ts';
import type { Backend, JobListener, LoadedModel, LoadSize, Memory, ModelTarget } from '../ports.ts';
import type { ExchangeDeps } from '../upstream/http/exchange.ts';
import { REMOTE_ENGINE, type RemoteTarget } from '../upstream/ports.ts';
import { runRemote } from '../upstream/remote-backend.ts';
import { COMMAND_ENGINE, type CommandTarget } from './source.ts';
import { type StartDeps, startCommand, type Started } from './start.ts';

type CommandBackendOptions = StartDeps & ExchangeDeps;

const EXIT_LAG_MS = 1_000;

export function createCommandBackend(options: CommandBackendOptions): Backend {
  const running = new Set<Started['child']>();
  return {
    memoryNeed: (target) => hostMemory(asCommand(target).source.memoryBytes),
    load: async (target, size, signal) => {
      const command = asCommand(target);
      const started = await startCommand(options, target.modelId, command.source, signal);
      running.add(started.child);
      void started.child.gone.then(() => running.delete(started.child));
      return loaded(options, command, size, started);
    },
    close: async () => void (await Promise.all([...running].map((child) => child.end()))),
  };
}

const hostMemory = (bytes: number): Memory | null => (bytes === 0 ? null : [{ device: HOST_DEVICE, bytes }]);

function loaded(
  deps: CommandBackendOptions,
  target: CommandTarget,
  { cells }: LoadSize,
  { child, upstream, model, capacity, memoryBytes }: Started,
): LoadedModel {
  const remote: RemoteTarget = { ...target, engine: REMOTE_ENGINE, source: { upstream, model } };
  const memory = hostMemory(target.source.memoryBytes) ?? [];
  return {
    facts: {
      numCtx: model.contextLength ?? 0,
      cells,
      slots: capacity ?? upstream.maxCalls,
      memory,
      measured: memoryBytes === null ? memory : [{ device: HOST_DEVICE, bytes: memoryBytes }],
      details: { pid: child.pid },
    },
    run: (job: Job, signal, listener, route) =>
      void runRemote(deps, remote, {
        job,
        signal,
        proof: null,
        route,
        listener: blamingExit(deps.clock, target, child, listener),
      }),
    unload: () => child.end(),
    gone: child.gone.then((reason) => ({ reason })),
  };
}

/** If the process exited, reports its exit instead of the broken connection. */
function blamingExit(
  clock: Clock,
  { modelId: model }: CommandTarget,
  child: Started['child'],
  listener: JobListener,
): JobListener {
  return {
    onEvent: (event) => listener.onEvent(event),
    room: () => listener.room?.(),
    onEnd: (failure) => {
      if (!isFailure(failure, 'upstream_unreachable', 'upstream_broken')) return listener.onEnd(failure);
      const lag = new Promise<undefined>(
        (resolve) => void clock.after(EXIT_LAG_MS, () => resolve(undefined)),
      );
      void Promise.race([child.gone, lag]).then((reason) => {
        if (reason === undefined) return listener.onEnd(failure);
        const detail = { model, reason: reason ?? 'it was unloaded', outside: reason === null };
        listener.onEnd(fail('worker_crashed', detail, failure));
      });
    },
  };
}

function asCommand(target: ModelTarget): CommandTarget {
  if (target.engine !== COMMAND_ENGINE)
    throw new Error(`model ${target.modelId} is of engine ${target.engine}`);
  return target as CommandTarget;
}
