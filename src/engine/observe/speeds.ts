/** How fast the latest answer of each model was decoded, for people who look at what is loaded. */
import type { EngineObserver } from '../ports.ts';

/** Shorter answers say more about how they began. */
const LEAST_TOKENS = 8;

export interface Speeds extends EngineObserver {
  /** Tokens per second; null before the first answer of some length. */
  of(modelId: string): number | null;
}

export function watchSpeeds(): Speeds {
  // Only ids of installed models come here.
  const latest = new Map<string, number>();
  return {
    of: (modelId) => latest.get(modelId) ?? null,
    watchJob: ({ modelId }) => ({
      onEvent: (event) => {
        if (event.type !== 'done') return;
        const { completionTokens } = event.usage;
        const { decodeMs } = event.timings;
        if (completionTokens >= LEAST_TOKENS && decodeMs > 0)
          latest.set(modelId, (completionTokens * 1000) / decodeMs);
      },
      onEnd: () => {},
    }),
  };
}
