/** What the last requests say of first tokens and of the prompt cache. Pure. */
import type { RequestView } from '../../../src/wire/operation/requests.ts';

/** Times to the first token, the oldest first, milliseconds. */
export const firstTokens = (requests: readonly RequestView[]): number[] =>
  requests.flatMap(({ first_ms: first }) => first ?? []).toReversed();

/** The least value that this share of all stays within; null: there are none. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? null;
}

/** Requests whose prompt was looked for in the cache; embeddings have none, and others failed or were stopped before. */
export const withPrompt = (requests: readonly RequestView[]): RequestView[] =>
  requests.filter(({ cached_tokens: cached }) => cached !== undefined);

export interface PromptOrigins {
  readonly slot: number;
  readonly ram: number;
  readonly disk: number;
  readonly evaluated: number;
}

/** Where the prompt tokens of these requests came from. */
export function promptOrigins(requests: readonly RequestView[]): PromptOrigins {
  const origins = { slot: 0, ram: 0, disk: 0, evaluated: 0 };
  for (const { prompt_tokens: prompt = 0, cached_tokens: cached = 0, ram_tokens, disk_tokens } of withPrompt(
    requests,
  )) {
    const [ram, disk] = [ram_tokens ?? 0, disk_tokens ?? 0];
    origins.slot += Math.max(0, cached - ram - disk);
    origins.ram += ram;
    origins.disk += disk;
    origins.evaluated += Math.max(0, prompt - cached);
  }
  return origins;
}

/** The share of prompt tokens that were not evaluated again; null where there was no prompt. */
export function reusedShare({ slot, ram, disk, evaluated }: PromptOrigins): number | null {
  const reused = slot + ram + disk;
  return reused + evaluated === 0 ? null : reused / (reused + evaluated);
}
