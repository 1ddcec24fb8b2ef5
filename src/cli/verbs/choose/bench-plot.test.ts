import { expect, it } from 'vitest';
import { benchPlot } from './bench-plot.ts';

it('draws a bar for each number of streams, in proportion, and no markup of a name', () => {
  const decode = [
    { streams: 1, tokensPerS: 10 },
    { streams: 8, tokensPerS: 40 },
  ];
  const plot = benchPlot({
    model: 'a<b',
    service: 'private',
    numCtx: null,
    prefillTokensPerS: null,
    decode,
    embeddingModel: null,
    embeddingsPerS: null,
  });
  const [one = 0, eight = 0] = [...plot.matchAll(/<rect class="bar0" x=.*?width="(\d+)"/g)].map(([, width]) =>
    Number(width),
  );
  expect(eight).toBe(one * 4);
  expect(one).toBeGreaterThan(0);
  expect(plot).toContain('a&lt;b');
});
