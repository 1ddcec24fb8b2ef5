/** The chat under the hands of somebody who writes: where the focus is, what keys do, what is in sight. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { farRig } from './page-rig.ts';
import { answers, choose, importAll, items, live, message, reload, say, send } from './talking.ts';

const rig = farRig({ models: ['tale', 'good', { id: 'too-long', object: 'model', max_model_len: 512 }] });
beforeEach(() => {
  rig.upstream.faultOf = () => null;
});

const visit = () => openPage(rig.browser, `${rig.served.url}/ui/`);
const focusedId = (page: Page) => page.evaluate(() => document.activeElement?.id ?? '');
const LONG = Array.from({ length: 40 }, (_, at) => [
  { role: 'user' as const, text: `question ${at}` },
  { role: 'assistant' as const, text: `answer ${at}\n\nin two paragraphs` },
]).flat();

/** An answer that has begun and does not end. */
async function visitSpeaking() {
  rig.upstream.faultOf = () => ({ after: 5, kind: 'stall' });
  const visited = await visit();
  await choose(visited.page, 'far/tale');
  await send(visited.page, 'Tell it.');
  await expect.poll(() => live(visited.page).textContent()).toContain('word4');
  return visited;
}

describe('Escape', () => {
  it('closes what was opened last, and only then stops the answer', async () => {
    const { page, close } = await visitSpeaking();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'As API call' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await expect.poll(() => page.locator('.side.settings').count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.side.settings').count()).toBe(0);
    await expect.poll(() => live(page).count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => answers(page).textContent()).toContain('stopped by you');
    await close();
  });

  it('closes what was open before the answer began, and only then stops it', async () => {
    rig.upstream.faultOf = () => ({ after: 5, kind: 'stall' });
    const { page, close } = await visit();
    await choose(page, 'far/tale');
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.locator('.side.settings').waitFor();
    await page.locator('.places a[href="#/models"]').click();
    await page.locator('main[data-view="models"] h1').waitFor();
    await page.locator('.places a[href="#/chat"]').click();
    await send(page, 'Tell it.');
    await expect.poll(() => live(page).textContent()).toContain('word4');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.side.settings').count()).toBe(0);
    expect(await live(page).count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => answers(page).textContent()).toContain('stopped by you');
    await close();
  });

  it('leaves a message that is edited as it was', async () => {
    const { page, close } = await visit();
    await choose(page, 'far/good');
    await say(page, 'as it was');
    await page.locator('.entry.user').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edited message').fill('otherwise');
    await page.keyboard.press('Escape');
    expect(await page.locator('.entry.user .said').textContent()).toBe('as it was');
    await close();
  });
});

describe('the focus', () => {
  it('is in the message at the start, after New, and after another view', async () => {
    const { page, close } = await visit();
    await expect.poll(() => focusedId(page)).toBe('message');
    await choose(page, 'far/good');
    await say(page, 'one');
    await page.getByRole('button', { name: 'New conversation' }).first().click();
    await expect.poll(() => focusedId(page)).toBe('message');
    await page.locator('.places a[href="#/models"]').click();
    await page.locator('main[data-view="models"] h1').waitFor();
    await page.locator('.places a[href="#/chat"]').click();
    await expect.poll(() => focusedId(page)).toBe('message');
    await close();
  });

  it('is in the text after Edit, so that Enter twice sends nothing twice', async () => {
    const { page, close } = await visit();
    await choose(page, 'far/good');
    await say(page, 'one');
    await page.locator('.entry.user').getByRole('button', { name: 'Edit' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Edited message').waitFor();
    await page.keyboard.type(' more');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.entry.user .said').textContent()).toBe('one more');
    await expect.poll(() => page.locator('.entry.user .pager').textContent()).toContain('2 of 2');
    await close();
  });
});

describe('keys', () => {
  it('bring the last message back, and are listed', async () => {
    const { page, close } = await visit();
    await choose(page, 'far/good');
    await say(page, 'once more');
    await message(page).press('ArrowUp');
    expect(await message(page).inputValue()).toBe('once more');
    await message(page).fill('');
    // A question mark in a message is one.
    await message(page).press('?');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.locator('.scroller').focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await expect.poll(() => focusedId(page)).toBe('message');
    await page.keyboard.press('Control+Shift+o');
    await expect.poll(() => page.locator('.entry').count()).toBe(0);
    await page.keyboard.press('Control+,');
    await page.locator('.side.settings').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search conversations' }).waitFor();
    await close();
  });
});

describe('a fast key', () => {
  /** What has the focus in the task after a click, before anything is drawn. */
  const focusedAfter = (page: Page, selector: string) =>
    page.evaluate(async (wanted) => {
      document.querySelector<HTMLElement>(wanted)?.click();
      await new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.addEventListener('message', resolve, { once: true });
        port1.start();
        port2.postMessage(null);
      });
      const { activeElement: focused } = document;
      return focused?.getAttribute('role') ?? focused?.getAttribute('aria-label') ?? focused?.id;
    }, selector);

  it('goes to what was just opened', async () => {
    const { page, close } = await visit();
    await importAll(page, [{ title: 'one', said: LONG.slice(0, 2) }]);
    for (const [selector, focused, end] of [
      ['.menu [aria-label="More"]', 'menuitem', 'Escape'],
      ['[aria-label="Rename one"]', 'Name of one', 'Escape'],
      ['.find-opener', 'Words to find', 'Escape'],
      ['.begin', 'message', null],
    ] as const) {
      expect([selector, await focusedAfter(page, selector)]).toEqual([selector, focused]);
      if (end !== null) await page.keyboard.press(end);
    }
    await close();
  });

  it('opens again what is just being closed', async () => {
    const { page, close } = await visit();
    await page.locator('.scroller').focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.evaluate(async () => {
      document.querySelector<HTMLElement>('dialog [aria-label="Close"]')?.click();
      // The page is drawn in microtasks; the browser reports the end of the dialog in a task after them.
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      document.body.dispatchEvent(
        new KeyboardEvent('keydown', { key: '?', bubbles: true, cancelable: true }),
      );
    });
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0))));
    expect(await page.getByRole('dialog').count()).toBe(1);
    await close();
  });
});

describe('a message', () => {
  it('that is sent from far above is in sight, and a button leads to the end', async () => {
    const { page, close } = await visit();
    await importAll(page, [{ title: 'long', said: LONG }]);
    await choose(page, 'far/good');
    const scroller = page.locator('.scroller');
    await scroller.evaluate((element) => (element.scrollTop = 0));
    await page.getByRole('button', { name: 'To the end' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'To the end' }).count()).toBe(0);
    await scroller.evaluate((element) => (element.scrollTop = 0));
    await page.getByRole('button', { name: 'To the end' }).waitFor();
    await say(page, 'from above');
    await page.getByText('from above').waitFor();
    const isInSight = () =>
      page.getByText('from above').evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      });
    await expect.poll(isInSight).toBe(true);
    await close();
  });

  it('that is too long is folded, and told of with what helps', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, { expected: [/400 \(/] });
    await choose(page, 'far/too-long');
    await say(page, 'word '.repeat(10_000));
    const said = page.locator('.entry.user .said');
    expect((await said.textContent())?.length).toBeLessThan(3000);
    await said.getByRole('button', { name: 'Show all 50,000 characters' }).click();
    await expect.poll(async () => (await said.textContent())?.length).toBeGreaterThan(49_000);
    const failure = answers(page).locator('.failure');
    expect(await failure.textContent()).not.toMatch(/\d{4,}|message, start a/);
    // A model with a larger window helps, if there is one.
    await expect.poll(() => failure.getByRole('button', { name: /^Ask / }).count()).toBe(1);
    await close();
  });

  it('leaves its other version in sight when it is deleted, and comes back to its place', async () => {
    const { page, close } = await visit();
    await choose(page, 'far/good');
    await say(page, 'one');
    await page.locator('.entry.user').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edited message').fill('two');
    await page.keyboard.press('Enter');
    const pager = page.locator('.entry.user .pager');
    await expect.poll(() => pager.textContent()).toContain('2 of 2');
    await expect.poll(() => answers(page).count()).toBe(1);
    await page.locator('.entry.user').getByRole('button', { name: 'Previous version' }).click();
    await expect.poll(() => pager.textContent()).toContain('1 of 2');
    await page.locator('.entry.user').getByRole('button', { name: 'Delete this and what follows' }).click();
    await expect.poll(() => page.locator('.entry.user .said').allTextContents()).toEqual(['two']);
    await page.locator('.taken-out').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => pager.textContent()).toContain('1 of 2');
    await reload(page);
    await expect.poll(() => pager.textContent()).toContain('1 of 2');
    await close();
  });

  it('is deleted with what follows, and comes back', async () => {
    const { page, close } = await visit();
    await importAll(page, [{ title: 'long', said: LONG.slice(0, 4) }]);
    const remove = page.getByRole('button', { name: 'Delete this and what follows' }).nth(1);
    await page.locator('.entry.user').nth(1).hover();
    await remove.click();
    await expect.poll(() => page.locator('.entry').count()).toBe(2);
    await page.locator('.taken-out').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => page.locator('.entry').count()).toBe(4);
    await reload(page);
    await expect.poll(() => page.locator('.entry').count()).toBe(4);
    await close();
  });
});

describe('an answer', () => {
  it('is edited, tried again with another model, and names the model that wrote it', async () => {
    const { page, close } = await visit();
    await choose(page, 'far/good');
    await say(page, 'one');
    await page.getByRole('button', { name: 'Edit the answer' }).click();
    await page.getByLabel('Edited answer').fill('My own words.');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => answers(page).locator('.prose').textContent()).toBe('My own words.');
    expect(await answers(page).locator('.ledger').textContent()).toContain('edited by you');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Try again with far/tale' }).click();
    await expect.poll(() => answers(page).locator('.prose').textContent()).toContain('word199');
    expect(await answers(page).locator('.pager').textContent()).toContain('3 of 3');
    expect(await answers(page).locator('.ledger').textContent()).toContain('far/tale');
    await close();
  });
});

describe('settings', () => {
  it('are kept under a name, put to another conversation, and removed', async () => {
    const { page, close } = await visit();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('System prompt').fill('Be brief.');
    await page.getByLabel('Temperature').fill('0.2');
    await page.getByLabel('Keep these as').fill('Reviewer');
    await page.getByRole('button', { name: 'Save preset' }).click();
    await reload(page);
    await page.getByRole('button', { name: 'New conversation' }).first().click();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.locator('.presets select').selectOption('Reviewer');
    expect(await page.getByLabel('System prompt', { exact: true }).inputValue()).toBe('Be brief.');
    const inUse = page.getByRole('list', { name: 'Settings in use' });
    await expect.poll(() => inUse.textContent()).toBe('System promptTemperature 0.2');
    await page.getByRole('button', { name: 'Remove the preset Reviewer' }).click();
    await expect.poll(() => page.locator('.presets select').count()).toBe(0);
    // The conversation keeps what was put to it.
    expect(await inUse.textContent()).toBe('System promptTemperature 0.2');
    await close();
  });

  it('become the defaults of the model, for all its clients', async () => {
    const { page, close } = await visit();
    await choose(page, 'hearth-mini');
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('System prompt').fill('Answer in verse.');
    await page.getByLabel('Temperature').fill('0.5');
    await page.getByRole('button', { name: 'Make these the defaults of hearth-mini' }).click();
    await page.getByText('hearth-mini begins with these from now on').waitFor();
    const { body } = await rig.served.client.get('/svc/models');
    const mini = body.models.find(({ id }: { id: string }) => id === 'hearth-mini');
    expect(mini.texts).toMatchObject({ system: 'Answer in verse.', temperature: '0.5' });
    await close();
  });
});

describe('on a phone', () => {
  it('nothing lies outside the screen while models are compared, and a chosen conversation is shown', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, {
      viewport: { width: 390, height: 844 },
    });
    for (const name of ['Compare', 'Compare']) await page.getByRole('button', { name, exact: true }).click();
    for (const name of ['As API call', 'Settings']) {
      const box = await page.getByRole('button', { name, exact: true }).boundingBox();
      expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 999) <= 390).toBe(true);
    }
    await page.getByRole('button', { name: 'Menu' }).click();
    await importAll(page, [
      { title: 'first', said: [{ role: 'user', text: 'one' }] },
      { title: 'second', said: [{ role: 'user', text: 'two' }] },
    ]);
    await page.getByRole('button', { name: 'Menu' }).click();
    await items(page).last().locator('a').click();
    await expect.poll(() => page.locator('.rail').isVisible()).toBe(false);
    await page.locator('.entry.user').waitFor();
    await close();
  });
});
