/** The card of a model as one coding agent would find it, made in a worker of its own. */
import type { ModelTarget } from '../../../engine/ports.ts';
import { startOwnWorker, type WorkerSettings } from '../../own-worker.ts';
import type { AgentName } from './agent-kits.ts';
import { type AgentCard, playAgent } from './play.ts';

export type { AgentCard, StepCard } from './play.ts';
export { AGENTS, type AgentName } from './agent-kits.ts';

export interface CheckAgentOptions {
  readonly agent: AgentName;
  readonly worker: WorkerSettings;
  readonly target: ModelTarget;
  /** Steps that have not begun within this time, the load included, are left out. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
  readonly onStep?: (done: number, all: number) => void;
}

/** The tools and the script take most of the first half. */
const NUM_CTX = 8192;

export async function checkAgent(options: CheckAgentOptions): Promise<AgentCard> {
  const { agent, worker, target, withinMs, signal, onStep } = options;
  const end = performance.now() + withinMs;
  const backend = startOwnWorker(worker);
  try {
    const numCtx = Math.min(NUM_CTX, target.trainedCtx);
    const loaded = await backend.load(target, { numCtx, slots: 1, cells: numCtx }, signal);
    return await playAgent({
      agent,
      model: target.modelId,
      run: (job, until, listener) => loaded.run(job, until, listener),
      target,
      signal,
      isOver: () => performance.now() > end,
      ...(onStep === undefined ? {} : { onStep }),
    });
  } finally {
    await backend.close();
  }
}
