/** The page in Firefox: its main flow, with nothing on the console. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation, type Served } from '../../support/process/installation.ts';
import { type Firefox, type FirefoxPage, startFirefox } from './driver.ts';

let installation: Installation;
let served: Served;
let firefox: Firefox;
beforeAll(async () => {
  [installation, firefox] = await Promise.all([Installation.make(), startFirefox()]);
  served = await installation.serve({ SVC_NUM_THREADS: '1' });
});
afterAll(async () => {
  await firefox?.close();
  await installation?.remove();
});

const readText = (page: FirefoxPage, selector: string): Promise<string> =>
  page.evaluate((wanted) => document.querySelector(wanted)?.textContent ?? '', selector);

it('answers, keeps the conversation, reads files, proves an answer and shows every view', async () => {
  const page = await firefox.newPage();
  const wrong: string[] = [];
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  page.on('pageerror', (error) => wrong.push(error.message));
  await page.goto(`${served.url}/ui/`);
  await page.waitForSelector('#message');
  await page.type('#message', 'What is Hearth?');
  await page.keyboard.press('Enter');
  const answer = '.entry.assistant:not(.live) .prose';
  await expect.poll(() => readText(page, answer)).toContain('Hearth is');
  await page.reload();
  await expect.poll(() => readText(page, answer)).toContain('Hearth is');

  await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(64, 48);
    canvas.getContext('2d')?.fillRect(0, 0, 64, 48);
    const image = await canvas.convertToBlob({ type: 'image/png' });
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['one\ntwo'], 'notes.txt'));
    dataTransfer.items.add(new File([image], 'chart.png', { type: 'image/png' }));
    document.querySelector('.talk')?.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
  });
  await expect.poll(() => readText(page, '.composer')).toMatch(/notes\.txt.*chart\.png64 × 48/s);
  expect(await readText(page, '.composer .failure')).toContain('does not read images');

  for (const [view, words] of [
    ['engine', 'hearth-mini'],
    ['models', 'in memory'],
    ['requests', 'Hearth page'],
    ['proof', 'Trusted key'],
  ] as const) {
    await page.goto(`${served.url}/ui/#/${view}`);
    await expect.poll(() => readText(page, 'main')).toContain(words);
  }
  await page.click('.proof button.main');
  await expect.poll(() => readText(page, '.verdict .word')).toBe('Verified');
  expect(wrong).toEqual([]);
});
