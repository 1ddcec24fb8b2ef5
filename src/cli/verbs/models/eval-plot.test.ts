import { describe, expect, it } from 'vitest';
import { sampleReport } from '../../../../test/support/records/sample-card.ts';
import { evalPlot } from './eval-plot.ts';

const widths = (plot: string): number[] =>
  [...plot.matchAll(/<rect class="bar\d" x="130".*?width="(\d+)"/g)].map(([, width]) => Number(width));

describe('the plot of an evaluation', () => {
  it('has a bar for each text and model, in proportion', () => {
    const plot = evalPlot(sampleReport());
    // All texts, then the one text: 2 bits of the model and 1 of its reference each.
    const [own = 0, other = 0] = widths(plot);
    expect(widths(plot)).toHaveLength(4);
    expect(own).toBe(other * 2);
    expect(other).toBeGreaterThan(0);
    expect(plot).toContain('2.000 (75.0 % same)');
    expect(plot).toContain('prefers-color-scheme: dark');
  });

  it('has one bar for each text without a reference', () => {
    expect(widths(evalPlot({ ...sampleReport(), against: null }))).toHaveLength(2);
  });

  it('takes no markup from a name and shows what is no number', () => {
    const { whole, ...rest } = sampleReport();
    const plot = evalPlot({
      ...rest,
      model: '<script>&\u0007',
      whole: { ...whole, bits_per_byte: null },
    });
    expect(plot).toContain('&lt;script&gt;&amp;');
    expect(plot).not.toMatch(/<script|NaN/);
    expect(plot).not.toContain(String.fromCodePoint(7));
    expect(plot).toContain('>none');
  });
});
