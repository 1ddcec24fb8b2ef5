import { useEffect } from 'preact/hooks';
import { recoveries } from './known.ts';

/** Does something when a view is opened or `what` changes, and again each time that the service is back. */
export function useRecovery(work: () => void | (() => void), what?: unknown): void {
  useEffect(work, [recoveries.value, what]);
}
