import { PRIVACIES, type Privacy } from '../../../../contract/settings/privacy.ts';
import type { LoadFacts } from '../../upstream/ports.ts';
import type { BalanceLimits } from '../limits.ts';

export interface Candidate {
  readonly id: string;
  readonly privacy: Privacy;
  /** `down`: gets nothing; `busy`: only requests that no other upstream takes. */
  readonly health: 'ready' | 'busy' | 'down';
  readonly hasModel: boolean;
  readonly inFlight: number;
  readonly maxCalls: number;
  readonly load: LoadFacts | null;
  /** Value of `inFlight` at the time of the load report. */
  readonly inFlightAtReport: number;
}

export const farness = (privacy: Privacy): number => PRIVACIES.indexOf(privacy);

export function currentLoad({ inFlight, inFlightAtReport, load }: Candidate): number {
  return inFlight + Math.max(0, (load?.running ?? 0) - inFlightAtReport);
}

export function isFull(candidate: Candidate, { fullKvUse }: Pick<BalanceLimits, 'fullKvUse'>): boolean {
  const { health, load, inFlight, maxCalls } = candidate;
  if (health !== 'ready' || inFlight >= maxCalls) return true;
  if ((load?.waiting ?? 0) > 0 || (load?.kvUse ?? 0) >= fullKvUse) return true;
  return currentLoad(candidate) >= (load?.capacity ?? Number.POSITIVE_INFINITY);
}
