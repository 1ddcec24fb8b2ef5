/** Unsent text and files survive a reload, another view and another tab; the page reports what the browser cannot store. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { chips, farRig, lastContent, visitFar } from './page-rig.ts';
import { pdf } from './pdf-file.ts';
import { answers, choose, importAll, items, message, reload, say, stored } from './talking.ts';

const rig = farRig();
beforeEach(() => {
  rig.upstream.requests.length = 0;
});

const visit = () => visitFar(rig);
const text = (name: string, content: string) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(content),
});
/** Two pixels. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4zwAE/wEHAAH/4iOeWQAAAABJRU5ErkJggg==',
  'base64',
);
const attach = (page: Page, ...files: { name: string; mimeType: string; buffer: Buffer }[]) =>
  page.getByLabel('Attach files').setInputFiles(files);
const names = (page: Page) => chips(page).locator('.file-name').allTextContents();

describe('files of a draft', () => {
  it('are there after a reload, go with the message, and are gone once it is sent', async () => {
    const { page, close } = await visit();
    await attach(
      page,
      text('notes.txt', 'one\ntwo'),
      { name: 'report.pdf', mimeType: 'application/pdf', buffer: pdf(['Costs rose']) },
      { name: 'dot.png', mimeType: 'image/png', buffer: PNG },
      text('unwanted.txt', 'no'),
    );
    await expect.poll(() => chips(page).count()).toBe(4);
    await page.getByRole('button', { name: 'Remove unwanted.txt' }).click();
    await message(page).fill('Look');
    await reload(page);
    await expect.poll(() => names(page)).toEqual(['notes.txt', 'report.pdf', 'dot.png']);
    await choose(page, 'far/good');
    await say(page, 'Look');
    expect(lastContent(rig)).toEqual([
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } },
      {
        type: 'text',
        text: 'File: notes.txt\n```\none\ntwo\n```\n\nFile: report.pdf\n```\n[Page 1]\nCosts rose\n```\n\nLook',
      },
    ]);
    await reload(page);
    await expect.poll(() => answers(page).count()).toBe(1);
    expect(await chips(page).count()).toBe(0);
    await close();
  });

  it('stay with their conversation, and are dropped with it', async () => {
    const { page, close } = await visit();
    await importAll(page, [
      { title: 'first', said: [{ role: 'user', text: 'one' }] },
      { title: 'second', said: [{ role: 'user', text: 'two' }] },
    ]);
    const open = (title: string) => page.getByRole('link', { name: title, exact: true }).click();
    await open('first');
    await attach(page, text('of-first.txt', 'x'));
    await message(page).fill('typed in first');
    await expect.poll(() => names(page)).toEqual(['of-first.txt']);
    await open('second');
    await expect.poll(() => names(page)).toEqual([]);
    await reload(page);
    await open('first');
    await expect.poll(() => names(page)).toEqual(['of-first.txt']);

    await page.getByRole('link', { name: 'first', exact: true }).hover();
    await page.getByRole('button', { name: 'Remove first' }).click();
    await expect.poll(() => items(page).count()).toBe(1);
    expect(await keptDrafts(page)).toMatch(/typed in first.*of-first/s);
    await reload(page);
    await expect.poll(() => items(page).count()).toBe(1);
    await expect.poll(() => keptDrafts(page)).not.toMatch(/typed in first|of-first/);
    await close();
  });

  it('of two tabs stay apart, and those of a closed tab are taken over by the next one', async () => {
    const { page, tab, close } = await visit();
    const open = async () => {
      const opened = await tab();
      await opened.goto(`${rig.served.url}/ui/`);
      await opened.getByText('Your conversations appear here').waitFor();
      return opened;
    };
    await attach(page, text('a.txt', 'a'));
    await expect.poll(() => names(page)).toEqual(['a.txt']);
    await message(page).fill('typed in one');
    const second = await open();
    expect([await names(second), await message(second).inputValue()]).toEqual([[], '']);
    await attach(second, text('b.txt', 'b'));
    await expect.poll(() => names(second)).toEqual(['b.txt']);
    await message(second).fill('typed in two');
    await stored(second);
    await reload(page);
    await expect.poll(() => names(page)).toEqual(['a.txt']);
    expect(await message(page).inputValue()).toBe('typed in one');
    await second.close();
    const third = await open();
    await expect.poll(() => names(third)).toEqual(['b.txt']);
    expect(await message(third).inputValue()).toBe('typed in two');
    await third.close();
    await close();
  });

  it('that do not fit are named, and the browser asks before it loses them', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, {
      expected: [/dialog: beforeunload/],
    });
    await importAll(page, [{ title: 'large', said: [{ role: 'user', text: 'one' }] }]);
    await page.getByRole('button', { name: 'New conversation' }).first().click();
    await page.evaluate(() => {
      const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function full(...given) {
        if (this.name === 'files') throw new DOMException('full', 'QuotaExceededError');
        return put.apply(this, given);
      };
      Reflect.set(window, 'makeRoom', () => void (IDBObjectStore.prototype.put = put));
    });
    await attach(page, text('a.txt', 'a'));
    const fault = page.getByText('this message loses its attached files when the tab is closed or reloaded');
    await fault.waitFor();
    const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
    expect(dialog.type()).toBe('beforeunload');
    // With room again, it is kept after all.
    await page.evaluate(() => (Reflect.get(window, 'makeRoom') as () => void)());
    await page.getByRole('link', { name: 'large', exact: true }).hover();
    await page.getByRole('button', { name: 'Remove large' }).click();
    await expect.poll(() => fault.count()).toBe(0);
    await reload(page);
    await expect.poll(() => names(page)).toEqual(['a.txt']);
    await close();
  });
});

/** Everything that this browser keeps of drafts, as text. */
const keptDrafts = (page: Page): Promise<string> =>
  page.evaluate(
    () =>
      new Promise<string>((resolve, reject) => {
        const opening = indexedDB.open('hearth-drafts');
        opening.addEventListener('error', () => reject(new Error('no database')));
        opening.addEventListener('success', () => {
          const reading = opening.result.transaction('files').objectStore('files').getAll();
          reading.addEventListener('success', () => {
            opening.result.close();
            resolve(JSON.stringify([{ ...localStorage }, reading.result]));
          });
        });
      }),
  );

describe('what is written elsewhere', () => {
  it('outlives a reload as well: an edited message, and the settings of a conversation that has not begun', async () => {
    const { page, close } = await visit();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('System prompt').fill('Answer in rhyme.');
    await reload(page);
    await page.getByRole('list', { name: 'Settings in use' }).getByText('System prompt').waitFor();
    await expect.poll(() => page.getByLabel('Model of column 1').inputValue()).toBe('far/good');

    await say(page, 'First words');
    const asked = rig.upstream.requests.findLast(({ path }) => path === '/v1/chat/completions');
    expect(asked?.body.messages[0]).toEqual({
      role: 'system',
      content: 'Answer in rhyme.',
    });
    const edit = () => page.locator('.entry.user').getByRole('button', { name: 'Edit' }).click();
    await edit();
    await page.getByLabel('Edited message').fill('Other words');
    await reload(page);
    await expect.poll(() => answers(page).count()).toBe(1);
    await edit();
    expect(await page.getByLabel('Edited message').inputValue()).toBe('Other words');
    await page.keyboard.press('Escape');
    await edit();
    expect(await page.getByLabel('Edited message').inputValue()).toBe('First words');
    await close();
  });

  it('is sent although the small storage of the browser is full, and the page says that drafts are not kept', async () => {
    const { page, close } = await visit();
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
    });
    await message(page).fill('more than fits');
    await page.getByText('this message loses its text').waitFor();
    await say(page, 'more than fits');
    await expect.poll(() => page.getByText('this message loses').count()).toBe(0);
    await close();
  });
});
