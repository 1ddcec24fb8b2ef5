/** What hearth bench measured, and how it is drawn. Pure. */
export interface BenchReport {
  readonly model: string;
  /** Whether the running service was asked, or one that was started for this. */
  readonly service: 'running' | 'private';
  /** The window of the load, tokens. */
  readonly numCtx: number | null;
  readonly prefillTokensPerS: number | null;
  /** All streams together; null where the answers were too short to tell. */
  readonly decode: readonly { readonly streams: number; readonly tokensPerS: number | null }[];
  /** Null: no embedding model answers. */
  readonly embeddingsPerS: number | null;
}

const WIDTH = 480;
const ROW = 28;
const LABEL = 110;
const TOP = 40;

/** One bar for each number of streams; a picture of its own without scripts or fonts. */
export function plotOf({ model, decode }: BenchReport): string {
  const most = Math.max(1, ...decode.map(({ tokensPerS }) => tokensPerS ?? 0));
  const bars = decode.flatMap(({ streams, tokensPerS }, row) => {
    const value = tokensPerS ?? 0;
    const length = Math.round((value / most) * (WIDTH - LABEL - 90));
    const y = TOP + row * ROW;
    return [
      `<text x="10" y="${y + 15}">${streams} ${streams === 1 ? 'stream' : 'streams'}</text>`,
      `<rect x="${LABEL}" y="${y}" width="${length}" height="20" fill="#c2410c"/>`,
      `<text x="${LABEL + length + 6}" y="${y + 15}">${value.toFixed(1)} tokens/s</text>`,
    ];
  });
  const height = TOP + decode.length * ROW + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="10" y="22" font-weight="bold">${escaped(model)}: decoding, all streams together</text>`,
    ...bars,
    '</svg>\n',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
