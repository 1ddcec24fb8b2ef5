import type { JobEvent, StartedEvent, ProgressEvent } from '../../../contract/job-event.ts';
import { queuedComment } from '../../../wire/stream-comments.ts';
import type { ChoiceEvent } from './choices.ts';

/**
 * Items for server/http/sse.ts: a chunk, a comment while waiting, or `started`, after which no refusal is possible and the
 * response head may be sent. Prefill has not begun at `started`.
 */
export type StreamItem =
  | { readonly chunk: object }
  | { readonly comment: string }
  | { readonly started: Pick<StartedEvent, 'numCtx' | 'folds' | 'unheld' | 'compaction'> };

export interface BegunStream {
  readonly events: AsyncIterable<ChoiceEvent>;
  readonly toChunks: (index: number, event: JobEvent) => readonly object[];
  readonly showsProgress: boolean;
  readonly atEnd?: (() => Promise<readonly object[]>) | undefined;
}

export async function* streamItems(
  begin: () => Promise<BegunStream>,
): AsyncGenerator<StreamItem, void, void> {
  const { events, toChunks, showsProgress, atEnd } = await begin();
  const remarks = new ProgressRemarks();
  let hasStarted = false;
  for await (const { index, event } of events) {
    if (event.type === 'queued') yield { comment: queuedComment(event.position, event.reason) };
    if (event.type === 'started' && !hasStarted) {
      hasStarted = true;
      yield { started: event };
    }
    if (event.type === 'progress') {
      const comment = index === 0 ? remarks.of(event) : null;
      if (comment !== null) yield { comment };
      if (!showsProgress) continue;
    }
    for (const chunk of toChunks(index, event)) yield { chunk };
  }
  for (const chunk of (await atEnd?.()) ?? []) yield { chunk };
}

const EVERY_MS = 1_000;

/** Extrapolates the speed so far; null: nothing was evaluated yet. */
export function remainingMs({
  promptTokens,
  cachedTokens,
  evaluatedTokens,
  elapsedMs,
}: Omit<ProgressEvent, 'type'>): number | null {
  const evaluated = evaluatedTokens - cachedTokens;
  return evaluated > 0 ? ((promptTokens - evaluatedTokens) * elapsedMs) / evaluated : null;
}

export class ProgressRemarks {
  #dueMs = EVERY_MS;

  of(event: ProgressEvent): string | null {
    const { promptTokens, evaluatedTokens, elapsedMs } = event;
    if (elapsedMs < this.#dueMs || evaluatedTokens >= promptTokens) return null;
    this.#dueMs = elapsedMs + EVERY_MS;
    const percent = Math.floor((100 * evaluatedTokens) / promptTokens);
    const left = remainingMs(event);
    const rest = left === null ? '' : `, about ${Math.ceil(left / 1000)} s left`;
    return `processing the prompt: ${percent}% of ${promptTokens} tokens${rest}`;
  }
}
