/**
 * Step 6 of the tree: waiting jobs are told their position and the reason. A new reason is told at once, a new
 * position at most every `notifyMs`, because a long queue moves often.
 */
import { fairOrder } from './fairness.ts';
import type { ModelState } from './state.ts';
import type { Walk } from './walk.ts';

export function reportWaiting(walk: Walk): void {
  const { state, limits, nowMs } = walk;
  const due = nowMs >= state.lastNotifyMs + limits.notifyMs;
  let waiting = false;
  for (const model of state.models.values()) {
    if (model.queue.length === 0) continue;
    waiting = true;
    reportModel(walk, model, due);
  }
  if (!waiting) return;
  if (due) state.lastNotifyMs = nowMs;
  walk.wakeAt(state.lastNotifyMs + limits.notifyMs);
}

function reportModel(walk: Walk, model: ModelState, due: boolean): void {
  const reason = reasonOf(model);
  if (!due && model.queue.every((ticket) => ticket.told?.reason === reason)) return;
  fairOrder(model, walk.limits.maxOvertakes).forEach((ticket, index) => {
    const position = index + 1;
    const { told } = ticket;
    if (told?.reason === reason && (!due || told.position === position)) return;
    ticket.told = { position, reason };
    walk.effects.notifyQueued(ticket.seq, position, reason);
  });
}

function reasonOf(model: ModelState): string {
  switch (model.instance?.state) {
    case 'ready':
      return `waiting for a slot of model ${model.modelId}`;
    case 'loading':
      return `loading model ${model.modelId}`;
    case 'ending':
      return `waiting for model ${model.modelId} to end before it is loaded again`;
    default:
      return model.waitReason;
  }
}
