import { barPlot } from '../../bar-plot.ts';

export interface BenchReport {
  readonly model: string;
  readonly service: 'running' | 'private';
  readonly numCtx: number | null;
  readonly prefillTokensPerS: number | null;
  /** Sum of all streams; null if the answers were too short. */
  readonly decode: readonly { readonly streams: number; readonly tokensPerS: number | null }[];
  readonly embeddingModel: string | null;
  readonly embeddingsPerS: number | null;
}

export function benchPlot({ model, decode }: BenchReport): string {
  return barPlot({
    title: `${model}: decoding, all streams together`,
    rows: decode.map(({ streams, tokensPerS }) => ({
      label: `${streams} ${streams === 1 ? 'stream' : 'streams'}`,
      bars: [{ value: tokensPerS, text: `${(tokensPerS ?? 0).toFixed(1)} tokens/s` }],
    })),
  });
}
