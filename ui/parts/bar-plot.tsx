import { type Bars, layoutBars } from '../../src/lib/base/bar-layout.ts';

export function BarPlot({ bars }: { bars: Bars }) {
  const { width, height, texts, rects } = layoutBars(bars);
  return (
    <svg class="bar-plot" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={bars.title}>
      {rects.map(({ series, ...place }, at) => (
        <rect key={at} class={`bar${series}`} {...place} />
      ))}
      {texts.map(({ text, isTitle, ...place }, at) => (
        <text key={at} class={isTitle ? 'title' : undefined} {...place}>
          {text}
        </text>
      ))}
    </svg>
  );
}
