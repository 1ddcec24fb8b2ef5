import type { Entry } from '../talk/entry.ts';

export interface EntryFacts {
  readonly entry: Entry;
  /** The column that it is shown in. */
  readonly lane: number;
  /** All that the column shows. */
  readonly path: readonly Entry[];
}
