/** An upstream as a choice sees it: plain figures of this moment. */
import { PRIVACIES, type Privacy } from '../../../contract/settings/privacy.ts';
import type { LoadFacts } from '../../upstream/ports.ts';
import type { BalanceLimits } from '../limits.ts';

export interface Candidate {
  readonly id: string;
  readonly privacy: Privacy;
  /** `down`: it gets nothing; `busy`: only what nobody else takes. */
  readonly health: 'ready' | 'busy' | 'down';
  /** Whether its list of models has this one. */
  readonly hasModel: boolean;
  /** Requests of this server that it has now. */
  readonly inFlight: number;
  /** The most that it is given at once. */
  readonly maxCalls: number;
  readonly load: LoadFacts | null;
  /** Requests of this server at the time of its load report. */
  readonly inFlightAtReport: number;
}

export const farness = (privacy: Privacy): number => PRIVACIES.indexOf(privacy);

/** Current requests: ours, and those of others as far as it reports them. */
export function currentLoad({ inFlight, inFlightAtReport, load }: Candidate): number {
  return inFlight + Math.max(0, (load?.running ?? 0) - inFlightAtReport);
}

/** Whether more would have to wait there. */
export function isFull(candidate: Candidate, { fullKvUse }: Pick<BalanceLimits, 'fullKvUse'>): boolean {
  const { health, load, inFlight, maxCalls } = candidate;
  if (health !== 'ready' || inFlight >= maxCalls) return true;
  if ((load?.waiting ?? 0) > 0 || (load?.kvUse ?? 0) >= fullKvUse) return true;
  return currentLoad(candidate) >= (load?.capacity ?? Number.POSITIVE_INFINITY);
}
