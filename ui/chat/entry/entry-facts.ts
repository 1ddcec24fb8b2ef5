import type { Entry } from '../talk/entry.ts';

export interface EntryFacts {
  readonly entry: Entry;
  readonly lane: number;
  readonly path: readonly Entry[];
}
