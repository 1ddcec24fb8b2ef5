/** Step 5 of the tree: an idle model leaves when it was asked to, or when its time is over. */
import { isIdle } from './room.ts';
import type { Walk } from './walk.ts';

export function expireIdle(walk: Walk): void {
  for (const { residency } of walk.state.models.values()) {
    if (residency === null || residency.state === 'ending') continue;
    residency.expiresAtMs = null;
    if (!isIdle(walk.state, residency)) continue;
    if (Number.isFinite(residency.retireFromSeq)) walk.unload(residency);
    if (residency.state !== 'ready') continue;
    const expiresAtMs = residency.lastUsedMs + residency.keepAliveMs;
    if (expiresAtMs <= walk.nowMs) {
      walk.unload(residency);
    } else if (Number.isFinite(expiresAtMs)) {
      residency.expiresAtMs = expiresAtMs;
      walk.wakeAt(expiresAtMs);
    }
  }
}
