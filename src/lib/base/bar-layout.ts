export interface Bars {
  readonly title: string;
  readonly notes?: readonly string[];
  readonly legend?: readonly string[];
  readonly rows: readonly { readonly label: string; readonly bars: readonly Bar[] }[];
}

export interface Bar {
  readonly value: number | null;
  readonly text: string;
}

export interface BarLayout {
  readonly width: number;
  readonly height: number;
  readonly texts: readonly { x: number; y: number; text: string; isTitle?: true }[];
  readonly rects: readonly { x: number; y: number; width: number; height: number; series: number }[];
}

const WIDTH = 560;
const LABEL = 130;
const VALUE = 142;
const BAR = 16;
const GAP = 12;
const LINE = 18;
const MARGIN = 12;
const MARK = 10;
const LINE_CHARACTERS = 84;

export function layoutBars({ title, notes = [], legend = [], rows }: Bars): BarLayout {
  const most = Math.max(0, ...rows.flatMap(({ bars }) => bars.map(({ value }) => value ?? 0))) || 1;
  const texts: BarLayout['texts'][number][] = [];
  const rects: BarLayout['rects'][number][] = [];
  let y = MARGIN;
  const line = (x: number, text: string): BarLayout['texts'][number] => {
    y += LINE;
    return { x, y: y - 5, text };
  };
  texts.push({ ...line(MARGIN, title), isTitle: true });
  for (const note of notes.flatMap(wrapped)) texts.push(line(MARGIN, note));
  for (const [series, name] of legend.entries()) {
    rects.push({ x: MARGIN, y: y + 4, width: MARK, height: MARK, series });
    texts.push(line(MARGIN + 16, name));
  }
  y += GAP;
  for (const { label, bars } of rows) {
    texts.push({ x: MARGIN, y: y + (bars.length * BAR) / 2 + 4, text: label });
    for (const [series, { value, text }] of bars.entries()) {
      const width = Math.round(((value ?? 0) / most) * (WIDTH - LABEL - VALUE));
      rects.push({ x: LABEL, y, width, height: BAR - 3, series });
      texts.push({ x: LABEL + width + 6, y: y + BAR - 5, text });
      y += BAR;
    }
    y += GAP;
  }
  return { width: WIDTH, height: y, texts, rects };
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
