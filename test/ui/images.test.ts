/** Images of messages: shown as they are sent, and sent only to models that read them. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { chips, farRig, lastContent, visitFar } from './page-rig.ts';
import { answers, choose, items, message, reload, say } from './talking.ts';

const rig = farRig();
beforeEach(() => {
  rig.upstream.requests.length = 0;
});

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}
const sent = (): readonly Part[] | string => lastContent(rig);

const visit = () => visitFar(rig);

/** A picture as a camera or a screenshot would be: red at the left, blue at the right. */
async function drawn(
  page: Page,
  type: 'png' | 'jpeg' | 'webp',
  width: number,
  height: number,
): Promise<Buffer> {
  const base64 = await page.evaluate(
    async (of) => {
      const canvas = new OffscreenCanvas(of.width, of.height);
      const context = canvas.getContext('2d');
      if (context === null) throw new Error('no canvas');
      context.fillStyle = '#f00';
      context.fillRect(0, 0, of.width / 2, of.height);
      context.fillStyle = '#00f';
      context.fillRect(of.width / 2, 0, of.width / 2, of.height);
      const blob = await canvas.convertToBlob({ type: `image/${of.type}` });
      const bytes = new Uint8Array(await blob.arrayBuffer());
      return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''));
    },
    { type, width, height },
  );
  return Buffer.from(base64, 'base64');
}

/** The colours that a canvas shows at its left and at its right. */
const readColours = (page: Page, place: string) =>
  page
    .locator(place)
    .first()
    .evaluate((element) => {
      const { width, height } = element as HTMLCanvasElement;
      const context = (element as HTMLCanvasElement).getContext('2d');
      return [width / 8, (width * 7) / 8].map((x) => [
        ...(context?.getImageData(Math.floor(x), Math.floor(height / 2), 1, 1).data ?? []),
      ]);
    });
const RED_AND_BLUE = [
  [255, 0, 0, 255],
  [0, 0, 255, 255],
];

describe('an image', () => {
  it('is attached by the button, shown as it is sent, and sent as it was, before the message', async () => {
    const { page, close } = await visit();
    const buffer = await drawn(page, 'png', 64, 48);
    await page.getByLabel('Attach files').setInputFiles({ name: 'chart.png', mimeType: 'image/png', buffer });
    await expect.poll(() => chips(page).textContent()).toContain('64 × 48');
    await expect.poll(() => readColours(page, '.composer canvas')).toEqual(RED_AND_BLUE);
    await say(page, 'What is this?');
    expect(sent()).toEqual([
      { type: 'image_url', image_url: { url: `data:image/png;base64,${buffer.toString('base64')}` } },
      { type: 'text', text: 'What is this?' },
    ]);
    await reload(page);
    await expect.poll(() => readColours(page, '.entry.user canvas')).toEqual(RED_AND_BLUE);
    // Nobody reads its bytes as code.
    await page.getByRole('button', { name: 'As API call' }).click();
    expect(await page.locator('dialog pre').textContent()).toContain('data:image/png;base64,…');
    await page.keyboard.press('Escape');
    await close();
  });

  it('is dropped and pasted; a large photo is made smaller before anything is sent', async () => {
    const { page, close } = await visit();
    const photo = (await drawn(page, 'jpeg', 4000, 3000)).toString('base64');
    const give = (kind: 'drop' | 'paste') =>
      page.evaluate(
        ([base64, how]) => {
          const file = Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0);
          const data = new DataTransfer();
          data.items.add(new File([file], `${how}.jpg`, { type: 'image/jpeg' }));
          const options = { bubbles: true, cancelable: true };
          if (how === 'drop') {
            document
              .querySelector('.talk')
              ?.dispatchEvent(new DragEvent('drop', { dataTransfer: data, ...options }));
          } else {
            document
              .querySelector('#message')
              ?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, ...options }));
          }
        },
        [photo, kind] as const,
      );
    await give('drop');
    await expect.poll(() => chips(page).count()).toBe(1);
    await give('paste');
    await expect.poll(() => chips(page).count()).toBe(2);
    expect(await chips(page).allTextContents()).toEqual([
      expect.stringMatching(/drop\.jpg2,048 × 1,536/),
      expect.stringMatching(/paste\.jpg2,048 × 1,536/),
    ]);
    await say(page, '');
    const parts = sent() as readonly Part[];
    expect(parts.map(({ type }) => type)).toEqual(['image_url', 'image_url']);
    expect(parts[0]?.image_url?.url).toMatch(/^data:image\/jpeg;base64,/);
    await close();
  });

  it('of another format of the web is sent as PNG, which every model reads', async () => {
    const { page, close } = await visit();
    const buffer = await drawn(page, 'webp', 64, 48);
    expect(buffer.toString('latin1', 8, 12)).toBe('WEBP');
    await page.getByLabel('Attach files').setInputFiles({ name: 'a.webp', mimeType: 'image/webp', buffer });
    await expect.poll(() => chips(page).textContent()).toContain('64 × 48');
    await say(page, '');
    const parts = sent() as readonly Part[];
    expect(parts[0]?.image_url?.url).toMatch(/^data:image\/png;base64,iVBOR/);
    await close();
  });

  it('that is none, or unpacks to too much, is refused with the reason', async () => {
    const { page, close } = await visit();
    const bomb = Buffer.alloc(64);
    bomb.write('\u0089PNG\r\n\u001a\n', 'latin1');
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    const attach = page.getByLabel('Attach files');
    await attach.setInputFiles({ name: 'bomb.png', mimeType: 'image/png', buffer: bomb });
    await page.getByText('bomb.png has 60,000 × 60,000 pixels, which is too many').waitFor();
    await attach.setInputFiles({ name: 'no.png', mimeType: 'image/png', buffer: Buffer.from('no') });
    await page.getByText('no.png is no image that this browser can read').waitFor();
    await expect.poll(() => chips(page).count()).toBe(0);
    await close();
  });

  it('waits where the model reads none, with the command that makes it possible', async () => {
    const { page, close } = await visit();
    await choose(page, 'hearth-mini');
    const buffer = await drawn(page, 'png', 8, 8);
    await message(page).fill('What is this?');
    await page.getByLabel('Attach files').setInputFiles({ name: 'chart.png', mimeType: 'image/png', buffer });
    await page.getByText('hearth-mini does not read images').waitFor();
    expect(await page.locator('.composer .failure').textContent()).toContain('hearth pull ');
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await choose(page, 'far/good');
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
    await page.getByRole('button', { name: 'Remove chart.png' }).click();
    await choose(page, 'hearth-mini');
    await say(page, 'Hello');
    await expect.poll(() => answers(page).count()).toBe(1);
    await close();
  });

  it('of a conversation from a file is decoded only if it may be, and never fetched', async () => {
    const { page, close } = await visit();
    const image = (url: string) => ({ name: 'x', text: '', image: { url, width: 9, height: 9 } });
    const good = (await drawn(page, 'png', 32, 16)).toString('base64');
    const file = {
      kind: 'hearth.conversations',
      version: 1,
      conversations: [
        {
          title: 'Pictures',
          entries: [
            {
              id: 'a',
              parent: null,
              role: 'user',
              text: 'Look',
              files: [
                image('https://evil.example/a.png'),
                image('data:image/svg+xml;base64,PHN2Zy8+'),
                image(`data:image/png;base64,${good}`),
              ],
            },
          ],
          lanes: [{ model: 'default', leaf: 'a' }],
        },
      ],
    };
    await page.getByLabel('Import').setInputFiles({
      name: 'c.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(file)),
    });
    await expect.poll(() => items(page).count()).toBe(1);
    await expect.poll(() => page.locator('.entry.user canvas').count()).toBe(1);
    await expect.poll(() => readColours(page, '.entry.user canvas')).toEqual(RED_AND_BLUE);
    await close();
  });
});
