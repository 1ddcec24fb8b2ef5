import type { VectorFacts } from '../../../contract/frozen.ts';
import type { EmbeddingEvent, JobEvent } from '../../../contract/job-event.ts';
import type { RecordedVector } from '../../../trust/evidence/vector-record.ts';
import { fitted } from './width.ts';

export interface RecordedVectors {
  readonly vectors: readonly RecordedVector[];
  readonly modelWidth: number;
  readonly facts: VectorFacts;
}

type Ended = Extract<JobEvent, { type: 'embedded' }>;

export function inOrder(
  events: readonly JobEvent[],
  inputs: number,
): { readonly items: readonly EmbeddingEvent[]; readonly ended: Ended } {
  const items: EmbeddingEvent[] = [];
  let ended: Ended | null = null;
  for (const event of events) {
    if (event.type === 'embedding') items[event.index] = event;
    if (event.type === 'embedded') ended = event;
  }
  if (ended === null || items.length !== inputs || items.includes(undefined as never))
    throw new Error(`the worker returned ${items.length} vectors for ${inputs} inputs`);
  return { items, ended };
}

export function recordedVectors(
  items: readonly EmbeddingEvent[],
  { account: facts }: Ended,
  width: number,
): RecordedVectors {
  if (facts === undefined) throw new Error('the worker gave no account of its vectors');
  const vectors = items.map(({ vector, tokens, truncated, tokensSha256 = '' }) => {
    // JSON writes -0 as 0, so its sign could not be proved.
    return { vector: fitted(vector, width).map((value) => value + 0), tokens, truncated, tokensSha256 };
  });
  return { vectors, modelWidth: items[0]?.vector.length ?? 0, facts };
}
