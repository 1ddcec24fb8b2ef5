import type { RequestView } from '../../../src/wire/operation/requests.ts';

/** In milliseconds, oldest first. */
export const firstTokens = (requests: readonly RequestView[]): number[] =>
  requests.flatMap(({ first_ms: first }) => first ?? []).toReversed();

export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? null;
}

/** Requests that looked up the cache; embeddings do not, nor do requests that failed or stopped earlier. */
export const withPrompt = (requests: readonly RequestView[]): RequestView[] =>
  requests.filter(({ cached_tokens: cached }) => cached !== undefined);

export interface PromptOrigins {
  readonly slot: number;
  readonly ram: number;
  readonly disk: number;
  readonly evaluated: number;
}

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

/** Share of prompt tokens that were not prefilled; null without a prompt. */
export function reusedShare({ slot, ram, disk, evaluated }: PromptOrigins): number | null {
  const reused = slot + ram + disk;
  return reused + evaluated === 0 ? null : reused / (reused + evaluated);
}
