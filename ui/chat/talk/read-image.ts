/**
 * Reads an image file into a PNG or JPEG to send: upright, no larger than models use, and without metadata such as
 * the place.
 */
import { bytes, count } from '../../parts/figures.ts';
import type { Attachment } from './attachments.ts';
import { MOST_PIXELS, imageSize, within } from './image-file.ts';

const MOST_FILE_BYTES = 20 * 1024 * 1024;
/** Models use fewer pixels, or parts of this size. */
const MOST_SIDE = 2048;
/** The body of a request may contain several. */
const MOST_SENT_BYTES = 1024 * 1024;
const QUALITIES = [0.9, 0.75, 0.5] as const;

export async function readImage(file: File): Promise<Attachment> {
  const { name } = file;
  if (file.size > MOST_FILE_BYTES) {
    throw new Error(
      `${name} has ${bytes(file.size)}, and an image may have ${bytes(MOST_FILE_BYTES)}; make it smaller.`,
    );
  }
  const known = imageSize(new Uint8Array(await file.arrayBuffer()));
  if (known !== null && known.width * known.height > MOST_PIXELS) {
    throw new Error(
      `${name} has ${count(known.width)} × ${count(known.height)} pixels, which is too many; make it smaller.`,
    );
  }
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${name} is no image that this browser can read; save it as PNG or JPEG.`);
  });
  try {
    const size = within(bitmap, MOST_SIDE);
    const { width, height } = size;
    const sent = isSentAsItIs(file, size, bitmap) ? file : await drawn(bitmap, size, file.type);
    return { name, text: '', image: { url: await dataUrl(sent), width, height } };
  } finally {
    bitmap.close();
  }
}

/** A rotated JPEG says so only in its metadata, which no model reads. */
const isSentAsItIs = (file: File, { width }: { readonly width: number }, bitmap: ImageBitmap): boolean =>
  file.type === 'image/png' && file.size <= MOST_SENT_BYTES && width === bitmap.width;

/** PNG keeps lines and letters sharp; photos, and images that become too large, use JPEG. */
async function drawn(
  bitmap: ImageBitmap,
  { width, height }: { readonly width: number; readonly height: number },
  type: string,
): Promise<Blob> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser draws no images; attach text instead.');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, width, height);
  if (type !== 'image/jpeg') {
    const sharp = await canvas.convertToBlob({ type: 'image/png' });
    if (sharp.size <= MOST_SENT_BYTES) return sharp;
  }
  let smallest = await canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITIES[0] });
  for (const quality of QUALITIES.slice(1)) {
    if (smallest.size <= MOST_SENT_BYTES) break;
    smallest = await canvas.convertToBlob({ type: 'image/jpeg', quality });
  }
  return smallest;
}

const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(new Error('The image could not be read again.')));
    reader.readAsDataURL(blob);
  });
