import { PDF_LIMITS, pdfText } from '../../pdf/pdf-text.ts';
import { bytes, count } from '../../parts/figures.ts';
import type { Attachment } from './attachments.ts';

export async function readPdf(file: File): Promise<Attachment> {
  const { name, size } = file;
  if (size > PDF_LIMITS.bytes) {
    throw new Error(
      `${name} has ${bytes(size)}, and a PDF may have ${bytes(PDF_LIMITS.bytes)}; attach a part of it.`,
    );
  }
  const { pages, all } = await pdfText(await file.arrayBuffer()).catch((error: Error) => {
    throw new Error(`The text of ${name} cannot be read: ${error.message}. Paste the text itself.`);
  });
  if (pages.every((text) => text === '')) {
    throw new Error(
      `${name} holds no text, only pictures of pages; attach it as images, or paste the text itself.`,
    );
  }
  const text = pages.map((page, at) => `[Page ${at + 1}]\n${page}`).join('\n\n');
  const rest = pages.length < all ? `\n\n[Only the first ${count(pages.length)} of ${count(all)} pages]` : '';
  return { name, text: text + rest };
}
