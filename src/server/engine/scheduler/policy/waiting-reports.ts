/**
 * Step 6 of the tree: reports position and reason to waiting jobs. A new reason is sent at once, a new position at
 * most every `notifyMs`, because a long queue moves often.
 */
import { loadReason } from '../../../../contract/job-event.ts';
import { fairOrder, positionOfYoungest } from './fairness.ts';
import type { ModelState, Ticket } from './state.ts';
import type { DecisionPass } from './decision-pass.ts';

export function reportWaiting(pass: DecisionPass): void {
  const { state, limits, nowMs } = pass;
  const due = nowMs >= state.lastNotifyMs + limits.notifyMs;
  let waiting = false;
  for (const model of state.models.values()) {
    if (model.queue.length === 0) continue;
    waiting = true;
    reportModel(pass, model, due);
  }
  if (!waiting) return;
  if (due) state.lastNotifyMs = nowMs;
  pass.wakeAt(state.lastNotifyMs + limits.notifyMs);
}

function reportModel(pass: DecisionPass, model: ModelState, due: boolean): void {
  const { maxOvertakes } = pass.limits;
  const reason = waitingReason(model);
  const stale = model.queue.find((ticket) => ticket.notified?.reason !== reason);
  // A newcomer to a long queue is the normal case and must not cost a sort of the whole queue.
  if (!due && stale !== undefined && stale === model.queue.at(-1)) {
    tell(pass, stale, positionOfYoungest(model, maxOvertakes), reason);
  } else if (due || stale !== undefined) {
    fairOrder(model, maxOvertakes).forEach((ticket, index) => {
      const isNews = ticket.notified?.reason !== reason || (due && ticket.notified.position !== index + 1);
      if (isNews) tell(pass, ticket, index + 1, reason);
    });
  }
}

function tell(pass: DecisionPass, ticket: Ticket, position: number, reason: string): void {
  ticket.notified = { position, reason };
  pass.effects.notifyQueued(ticket.seq, position, reason);
}

function waitingReason(model: ModelState): string {
  switch (model.residency?.state) {
    case 'ready':
      return `waiting for a slot of model ${model.modelId}`;
    case 'loading':
      return loadReason(model.modelId);
    case 'ending':
      return `waiting for model ${model.modelId} to end before it is loaded again`;
    default:
      return model.waitReason;
  }
}
