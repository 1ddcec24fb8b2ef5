/** SVG bars without scripts or fonts, readable on light and dark backgrounds. */
import { type Bars, layoutBars } from '../lib/base/bar-layout.ts';
import { printable } from './context.ts';

const STYLE = `
text { fill: #1c1917; }
.page { fill: #ffffff; }
.bar0 { fill: #c2410c; }
.bar1 { fill: #78716c; }
@media (prefers-color-scheme: dark) {
  text { fill: #f5f5f4; }
  .page { fill: #1c1917; }
  .bar0 { fill: #fb923c; }
  .bar1 { fill: #a8a29e; }
}`;

export function barPlot(bars: Bars): string {
  const { width, height, texts, rects } = layoutBars(bars);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="page" width="100%" height="100%"/>`,
    ...rects.map(
      (rect) =>
        `<rect class="bar${rect.series}" x="${rect.x}" y="${rect.y}" width="${rect.width}" height="${rect.height}"/>`,
    ),
    ...texts.map(
      ({ x, y, text, isTitle }) =>
        `<text x="${x}" y="${y}"${isTitle ? ' font-weight="bold"' : ''}>${escaped(text)}</text>`,
    ),
    '</svg>\n',
  ].join('\n');
}

/** Drops most control characters, which XML does not allow. */
function escaped(text: string): string {
  return printable(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
