/** Step 5 of the tree: an idle model leaves when it was asked to, or when its time is over. */
import { isIdle } from './room.ts';
import type { Walk } from './walk.ts';

export function expireIdle(walk: Walk): void {
  for (const { instance } of walk.state.models.values()) {
    if (instance === null || instance.state === 'ending') continue;
    instance.expiresAtMs = null;
    if (!isIdle(walk.state, instance)) continue;
    if (Number.isFinite(instance.retireFromSeq)) walk.unload(instance);
    if (instance.state !== 'ready') continue;
    const expiresAtMs = instance.lastUsedMs + instance.keepAliveMs;
    if (expiresAtMs <= walk.nowMs) walk.unload(instance);
    else if (Number.isFinite(expiresAtMs)) {
      instance.expiresAtMs = expiresAtMs;
      walk.wakeAt(expiresAtMs);
    }
  }
}
