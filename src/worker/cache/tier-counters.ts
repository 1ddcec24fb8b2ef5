import type { TierFacts } from '../../contract/slots.ts';

export class TierCounters {
  bytes = 0;
  tokens = 0;
  evictions = 0;
  restoredTokens = 0;

  came(bytes: number, { length }: Uint32Array): void {
    this.bytes += bytes;
    this.tokens += length;
  }

  left(bytes: number, { length }: Uint32Array): void {
    this.bytes -= bytes;
    this.tokens -= length;
  }

  facts(limitBytes: number): TierFacts {
    const { bytes, tokens, evictions, restoredTokens } = this;
    return { bytes, limitBytes, tokens, evictions, restoredTokens };
  }
}
