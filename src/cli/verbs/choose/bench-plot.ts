/** Results of hearth bench, and their plot. Pure. */
import { barPlot } from '../../bar-plot.ts';

export interface BenchReport {
  readonly model: string;
  /** True if the running service was measured, false if one was started for this. */
  readonly service: 'running' | 'private';
  /** The window of the load, tokens. */
  readonly numCtx: number | null;
  readonly prefillTokensPerS: number | null;
  /** Sum of all streams; null if the answers were too short. */
  readonly decode: readonly { readonly streams: number; readonly tokensPerS: number | null }[];
  /** Null: no embedding model answers. */
  /** The default one; null: no such model is installed. */
  readonly embeddingModel: string | null;
  readonly embeddingsPerS: number | null;
}

/** One bar for each number of streams. */
export function benchPlot({ model, decode }: BenchReport): string {
  return barPlot({
    title: `${model}: decoding, all streams together`,
    rows: decode.map(({ streams, tokensPerS }) => ({
      label: `${streams} ${streams === 1 ? 'stream' : 'streams'}`,
      bars: [{ value: tokensPerS, text: `${(tokensPerS ?? 0).toFixed(1)} tokens/s` }],
    })),
  });
}
