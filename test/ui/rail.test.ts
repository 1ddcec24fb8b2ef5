/** Conversations in the rail: by day, found, named, pinned and removed. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';
import { openPage, startBrowser } from './browser.ts';
import { importAll, items } from './talking.ts';

let installation: Installation;
let served: Served;
let browser: Browser;
beforeAll(async () => {
  [installation, browser] = await Promise.all([Installation.make({ trained: false }), startBrowser()]);
  served = await installation.serve({ SVC_NUM_THREADS: '1' });
});
afterAll(async () => {
  await browser.close();
  await installation.remove();
});

const CONVERSATIONS = [
  { title: 'Invoices', said: [{ role: 'user' as const, text: 'read the total' }] },
  { title: 'Logs', daysAgo: 3, said: [{ role: 'user' as const, text: 'a regular expression for nginx' }] },
  { title: 'Garden', daysAgo: 400, said: [{ role: 'user' as const, text: 'when to sow beans' }] },
];

async function visitFilled() {
  const visited = await openPage(browser, `${served.url}/ui/`);
  await importAll(visited.page, CONVERSATIONS);
  return visited;
}

describe('the conversations', () => {
  it('stand by day, and those that are pinned above, after a reload as well', async () => {
    const { page, close } = await visitFilled();
    const titles = page.locator('.conversations h2');
    await expect
      .poll(async () => (await titles.allTextContents()).slice(0, 2))
      .toEqual(['Today', 'Last 7 days']);
    await page.getByRole('link', { name: 'Garden' }).hover();
    await page.getByRole('button', { name: 'Pin Garden' }).click();
    await expect.poll(() => titles.first().textContent()).toBe('Pinned');
    await page.reload();
    await expect.poll(() => titles.first().textContent()).toBe('Pinned');
    expect(await items(page).first().textContent()).toContain('Garden');
    await close();
  });

  it('are renamed in place, and a name is left as it was by Escape', async () => {
    const { page, close } = await visitFilled();
    const rename = async (name: string, key: string) => {
      await page.getByRole('link', { name: 'Logs', exact: true }).hover();
      await page.getByRole('button', { name: 'Rename Logs', exact: true }).click();
      await page.getByLabel('Name of Logs').fill(name);
      await page.keyboard.press(key);
    };
    await rename('Something else', 'Escape');
    await page.getByRole('link', { name: 'Logs', exact: true }).waitFor();
    await rename('Log lines', 'Enter');
    await page.getByRole('link', { name: 'Log lines' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Log lines' }).waitFor();
    await close();
  });

  it('are removed, and come back', async () => {
    const { page, close } = await visitFilled();
    await page.getByRole('link', { name: 'Logs', exact: true }).hover();
    await page.getByRole('button', { name: 'Remove Logs' }).click();
    await expect.poll(() => items(page).count()).toBe(2);
    await page.locator('.undo').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => items(page).count()).toBe(3);
    await close();
  });

  it('are found by words of their titles and of what was said, with the keyboard alone', async () => {
    const { page, close } = await visitFilled();
    await page.keyboard.press('Control+k');
    const field = page.getByLabel('Words to find');
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.type('NGINX expression');
    const hits = page.locator('.hits li');
    await expect.poll(() => hits.allTextContents()).toEqual([expect.stringMatching(/^Logs.*nginx/s)]);
    await field.fill('nothing like this');
    await page.getByText('No conversation holds these words.').waitFor();
    await field.fill('in');
    await expect.poll(() => hits.count()).toBe(2);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await expect.poll(() => page.locator('.entry.user .said').textContent()).toContain('nginx');
    await close();
  });
});
