/** How long the rest of a prompt takes, and the remarks that people read of it while they wait. */
import type { ProgressEvent } from '../../contract/job-event.ts';

/** Between two remarks, and before the first: short prompts need none. */
const EVERY_MS = 1_000;

/** By the speed so far; null: nothing was evaluated yet. */
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

  /** Null: nothing new is to be said. */
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
