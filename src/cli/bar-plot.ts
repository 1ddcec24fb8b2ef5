/** Bars as a picture of its own: SVG without scripts or fonts, readable on light and on dark. Pure. */
import { printable } from './context.ts';

interface Bars {
  readonly title: string;
  /** Lines below the title. */
  readonly notes?: readonly string[];
  /** Names of the bars of a row, in order; absent: each row has one. */
  readonly legend?: readonly string[];
  readonly rows: readonly { readonly label: string; readonly bars: readonly Bar[] }[];
}

export interface Bar {
  /** Null: no value. */
  readonly value: number | null;
  /** Written after it. */
  readonly text: string;
}

const WIDTH = 560;
const LABEL = 130;
const VALUE = 142;
const BAR = 16;
const GAP = 12;
const LINE = 18;
const MARGIN = 12;
/** Fits the width in any usual font. */
const LINE_CHARACTERS = 84;

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

export function barPlot({ title, notes = [], legend = [], rows }: Bars): string {
  const most = Math.max(0, ...rows.flatMap(({ bars }) => bars.map(({ value }) => value ?? 0))) || 1;
  const drawn: string[] = [];
  let y = MARGIN;
  const line = (x: number, text: string, more = ''): void => {
    y += LINE;
    drawn.push(`<text x="${x}" y="${y - 5}"${more}>${escaped(text)}</text>`);
  };
  line(MARGIN, title, ' font-weight="bold"');
  for (const note of notes.flatMap(wrapped)) line(MARGIN, note);
  for (const [at, name] of legend.entries()) {
    drawn.push(`<rect class="bar${at}" x="${MARGIN}" y="${y + 4}" width="10" height="10"/>`);
    line(MARGIN + 16, name);
  }
  y += GAP;
  for (const { label, bars } of rows) {
    drawn.push(`<text x="${MARGIN}" y="${y + (bars.length * BAR) / 2 + 4}">${escaped(label)}</text>`);
    for (const [at, { value, text }] of bars.entries()) {
      const length = Math.round(((value ?? 0) / most) * (WIDTH - LABEL - VALUE));
      drawn.push(
        `<rect class="bar${at}" x="${LABEL}" y="${y}" width="${length}" height="${BAR - 3}"/>`,
        `<text x="${LABEL + length + 6}" y="${y + BAR - 5}">${escaped(text)}</text>`,
      );
      y += BAR;
    }
    y += GAP;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" font-family="sans-serif" font-size="12">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="page" width="100%" height="100%"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= LINE_CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** XML has no place for most control characters. */
function escaped(text: string): string {
  return printable(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
