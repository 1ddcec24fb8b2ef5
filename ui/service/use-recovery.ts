import { useEffect } from 'preact/hooks';
import { recoveries } from './known.ts';

export function useRecovery(work: () => void | (() => void), what?: unknown): void {
  useEffect(work, [recoveries.value, what]);
}
