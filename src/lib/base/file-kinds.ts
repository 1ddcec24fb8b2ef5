/** Kinds of images and audio by the first bytes of a file, which a name or a field may contradict. */

type Kinds = Readonly<Record<string, RegExp>>;

/** As in `image/…`. */
export const IMAGE_KINDS = {
  png: /^\x89PNG/,
  jpeg: /^\xff\xd8\xff/,
  gif: /^GIF8/,
  webp: /^RIFF[^]{4}WEBP/,
  bmp: /^BM/,
} as const satisfies Kinds;

/** As `format` of an audio part. */
export const AUDIO_KINDS = {
  wav: /^RIFF[^]{4}WAVE/,
  mp3: /^(?:ID3|\xff[\xe2-\xff])/,
  flac: /^fLaC/,
} as const satisfies Kinds;

/** Of what a file begins with. */
const START = 16;

export function detectKind(kinds: Kinds, bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, START);
  return Object.entries(kinds).find(([, begin]) => begin.test(start))?.[0] ?? null;
}

/** The same of base64. */
export const kindOfBase64 = (kinds: Kinds, text: string): string | null =>
  detectKind(kinds, Buffer.from(text.slice(0, 4 * Math.ceil(START / 3)), 'base64'));
