/** Conversations in the rail: by day, found, named, pinned and removed. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';
import { openPage, startBrowser } from './browser.ts';
import { importAll, items, reload, stored } from './talking.ts';

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
    await reload(page);
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
    await reload(page);
    await page.getByRole('link', { name: 'Log lines' }).waitFor();
    await close();
  });

  it('are put into folders, which have names, close, and stay over a reload, a file and another tab', async () => {
    const { page, tab, close } = await visitFilled();
    const folder = (name: string) => page.getByRole('region', { name, exact: true });
    const move = async (title: string, to: string) => {
      await page.getByRole('link', { name: title, exact: true }).hover();
      await page.getByRole('button', { name: `Move ${title} to a folder` }).click();
      await page.getByRole('menuitem', { name: to, exact: true }).click();
    };
    await move('Logs', 'New folder…');
    await page.keyboard.type('Server');
    await page.keyboard.press('Enter');
    await folder('Server').getByRole('link', { name: 'Logs' }).waitFor();
    await move('Garden', 'Server');
    await expect.poll(() => folder('Server').getByRole('listitem').count()).toBe(2);

    // Another tab shows the same, and moves one out.
    const second = await tab();
    await second.goto(page.url());
    await second.getByRole('region', { name: 'Server' }).getByRole('link', { name: 'Garden' }).hover();
    await second.getByRole('button', { name: 'Move Garden to a folder' }).click();
    await second.getByRole('menuitem', { name: 'Out of Server' }).click();
    await expect.poll(() => folder('Server').getByRole('listitem').count()).toBe(1);
    await stored(second);
    await second.close();

    await folder('Server').hover();
    await page.getByRole('button', { name: 'Rename the folder Server' }).click();
    await page.keyboard.type('Operation');
    await page.keyboard.press('Enter');
    await folder('Operation').locator('summary').click();
    await expect.poll(() => page.getByRole('link', { name: 'Logs', exact: true }).isVisible()).toBe(false);
    await reload(page);
    await folder('Operation').waitFor();
    expect(await page.getByRole('link', { name: 'Logs', exact: true }).isVisible()).toBe(false);
    await folder('Operation').locator('summary').click();
    await page.getByRole('link', { name: 'Logs', exact: true }).waitFor();

    // A pinned member stays in it, above the others.
    await page.getByRole('link', { name: 'Garden', exact: true }).hover();
    await page.getByRole('button', { name: 'Pin Garden' }).click();
    await move('Garden', 'Operation');
    await expect
      .poll(() => folder('Operation').getByRole('listitem').first().textContent())
      .toContain('Garden');
    await move('Garden', 'Out of Operation');

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const file = await download.path();
    await page.getByRole('link', { name: 'Logs', exact: true }).hover();
    await page.getByRole('button', { name: 'Remove Logs' }).click();
    await expect.poll(() => folder('Operation').count()).toBe(0);
    await page.getByLabel('Import').setInputFiles(file);
    await folder('Operation').getByRole('link', { name: 'Logs' }).waitFor();
    await close();
  });

  it('are one stop of the Tab key each; arrows lead to what can be done with them', async () => {
    const { page, close } = await visitFilled();
    await page.getByRole('link', { name: 'Invoices', exact: true }).focus();
    await page.keyboard.press('Tab');
    const focused = () =>
      page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent,
      );
    await expect.poll(focused).toBe('Logs');
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe('Garden');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect.poll(focused).toBe('Rename Garden');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Beds');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Beds', exact: true }).waitFor();
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
