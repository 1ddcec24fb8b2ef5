export const PDF_LIMITS = { bytes: 50 * 1024 * 1024, pages: 1000, chars: 1_000_000, ms: 60_000 } as const;

export interface PdfText {
  readonly pages: readonly string[];
  readonly all: number;
}

/** The worker's last message; the library sends messages of its own. */
export type Answer = { readonly text: PdfText } | { readonly fault: string };

/** File name that the build gives the worker. */
declare const PDF_WORKER: string;

interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL: () => string },
  ): { createScriptURL(from: string): string };
}

/** The only script that the page's policy allows as a worker. */
const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes;
const worker = policies?.createPolicy('hearth-pdf', { createScriptURL: () => PDF_WORKER });

export function pdfText(file: ArrayBuffer): Promise<PdfText> {
  const reader = new Worker(worker?.createScriptURL('') ?? PDF_WORKER, { type: 'module' });
  return new Promise<PdfText>((resolve, reject) => {
    setTimeout(() => reject(new Error('reading it takes too long')), PDF_LIMITS.ms);
    reader.addEventListener('message', ({ data }: MessageEvent<Partial<Answer>>) => {
      if ('text' in data && data.text !== undefined) resolve(data.text);
      if ('fault' in data) reject(new Error(FAULTS[data.fault ?? ''] ?? FAULTS['unknown']));
    });
    reader.addEventListener('error', () => reject(new Error('its reader could not be loaded')));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no other origin
    reader.postMessage(file, [file]);
  }).finally(() => reader.terminate());
}

const FAULTS: Readonly<Record<string, string>> = {
  PasswordException: 'it is locked with a password',
  unknown: 'it is damaged, or no PDF',
};
