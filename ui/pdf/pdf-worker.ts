/**
 * ui/pdf owns the text of PDF files, read in a worker that is ended after a time limit. It knows nothing of
 * conversations. This file runs in the worker; it is bundled separately, and fetched with the first PDF.
 */
import { getDocumentProxy } from 'unpdf';
import { type Answer, PDF_LIMITS, type PdfText } from './pdf-text.ts';

interface TextItem {
  readonly str: string;
  readonly hasEOL: boolean;
}

addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
  void readText(new Uint8Array(data)).then(
    (text) => postMessage({ text } satisfies Answer),
    (error: unknown) =>
      postMessage({ fault: error instanceof Error ? error.name : 'unknown' } satisfies Answer),
  );
});

async function readText(file: Uint8Array): Promise<PdfText> {
  const document = await getDocumentProxy(file, {
    isEvalSupported: false,
    useSystemFonts: false,
    verbosity: 0,
  });
  const pages: string[] = [];
  let chars = 0;
  for (let number = 1; number <= Math.min(document.numPages, PDF_LIMITS.pages); number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = (items as readonly object[])
      .filter((item): item is TextItem => 'str' in item)
      .map(({ str, hasEOL }) => (hasEOL ? `${str}\n` : str))
      .join('')
      .trim();
    page.cleanup();
    chars += text.length;
    if (chars > PDF_LIMITS.chars) break;
    pages.push(text);
  }
  return { pages, all: document.numPages };
}
