import { useEffect, useRef, useState } from 'preact/hooks';
import type { AttachedImage } from './talk/attachments.ts';
import { bytesOfUrl, within } from './talk/image-file.ts';

/** Pixels of the longer side, sharp on screens of double density. */
const SMALL = 320;

/** Drawn on a canvas, because the page's policy allows no image addresses. */
export function Picture({ image, name, isWhole }: { image: AttachedImage; name: string; isWhole: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isBroken, setBroken] = useState(false);
  const { url, width, height } = image;
  const size = isWhole ? { width, height } : within({ width, height }, SMALL);
  useEffect(() => {
    let isWanted = true;
    draw(canvas.current, url, () => isWanted).catch(() => isWanted && setBroken(true));
    return () => {
      isWanted = false;
    };
  }, [url, isWhole]);
  if (isBroken) return <span class="hint">cannot be shown</span>;
  return (
    <canvas
      class={isWhole ? 'picture whole' : 'picture'}
      ref={canvas}
      role="img"
      aria-label={name}
      {...size}
    />
  );
}

async function draw(canvas: HTMLCanvasElement | null, url: string, isWanted: () => boolean): Promise<void> {
  const file = bytesOfUrl(url);
  if (file === null) throw new Error('It is no image that may be decoded.');
  const bitmap = await createImageBitmap(new Blob([file]));
  if (isWanted() && canvas !== null)
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
}
