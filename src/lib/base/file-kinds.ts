/** Detects image and audio formats by the first bytes, because a file name or a declared type may be wrong. */

type Kinds = Readonly<Record<string, RegExp>>;

export const IMAGE_KINDS = {
  png: /^\x89PNG/,
  jpeg: /^\xff\xd8\xff/,
  gif: /^GIF8/,
  webp: /^RIFF[^]{4}WEBP/,
  bmp: /^BM/,
} as const satisfies Kinds;

export const AUDIO_KINDS = {
  wav: /^RIFF[^]{4}WAVE/,
  mp3: /^(?:ID3|\xff[\xe2-\xff])/,
  flac: /^fLaC/,
} as const satisfies Kinds;

const START = 16;

export function detectKind(kinds: Kinds, bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, START);
  return Object.entries(kinds).find(([, begin]) => begin.test(start))?.[0] ?? null;
}

export const kindOfBase64 = (kinds: Kinds, text: string): string | null =>
  detectKind(kinds, Buffer.from(text.slice(0, 4 * Math.ceil(START / 3)), 'base64'));
