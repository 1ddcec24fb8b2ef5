import { effect, signal } from '@preact/signals';
import type { EngineState } from '../../src/wire/operation/engine-state.ts';
import { engineState, lostSinceMs, snapshots } from '../service/engine-feed.ts';
import { tokensBetween } from './reading/lanes.ts';

const EVERY_MS = 500;
/** The rate is a mean of this many steps: a single one would jump. */
const STEPS = 4;
const MOST_POINTS = 120;

export const rates = signal<readonly number[]>([]);
export const opens = signal<readonly number[]>([]);

/** Measures until the returned function is called. */
export function watchRate(): () => void {
  // A state of an earlier visit is no starting point.
  let lastSnapshot = snapshots.peek();
  let before: EngineState | null = null;
  let older: ReadonlySet<string> = new Set();
  let tokens = 0;
  let counts: number[] = [];
  const stop = effect(() => {
    const state = engineState.value;
    if (snapshots.value !== lastSnapshot) {
      lastSnapshot = snapshots.value;
      before = state;
      older = new Set(Object.keys(state?.jobs ?? {}));
      return;
    }
    if (before === null || state === null) return;
    tokens += tokensBetween(before, state, older);
    before = state;
  });
  const timer = setInterval(() => {
    // Leaves a gap while the connection is lost.
    if (lostSinceMs.peek() !== null) return;
    counts = [...counts.slice(1 - STEPS), tokens];
    tokens = 0;
    const mean = counts.reduce((sum, each) => sum + each, 0) / (counts.length * (EVERY_MS / 1000));
    rates.value = [...rates.value.slice(1 - MOST_POINTS), mean];
    const { clients = [] } = engineState.peek() ?? {};
    const open = clients.reduce((sum, { running, queued }) => sum + running + queued, 0);
    opens.value = [...opens.value.slice(1 - MOST_POINTS), open];
  }, EVERY_MS);
  return () => {
    stop();
    clearInterval(timer);
  };
}
