/** Answers as they come: broken off and asked for again, with their reasoning apart, from several models at once, by keyboard. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { farRig } from './page-rig.ts';

// The tiny model never ends its turn after this word.
const rig = farRig({ models: ['thinks', 'tale'], settings: { SVC_NUM_PARALLEL: '2' } });

const visit = () => openPage(rig.browser, `${rig.served.url}/ui/`);
const live = (page: Page) => page.locator('.entry.assistant.live');
const whole = (page: Page) => page.locator('.entry.assistant:not(.live)');
const isIdle = async () => (await rig.served.client.get('/svc/engine')).body.clients.length === 0;

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel('Your message').fill(text);
  await page.keyboard.press('Enter');
}

/** The page while an answer comes that does not end by itself. */
async function visitSpeaking() {
  const visited = await visit();
  const { page } = visited;
  await page.getByLabel('Model of column 1').selectOption('hearth-mini');
  await send(page, 'forever');
  await expect
    .poll(async () => (await live(page).locator('.prose').textContent())?.length)
    .toBeGreaterThan(20);
  return visited;
}

describe('an answer', () => {
  it('is stopped in the middle, keeps what it said, and is tried again', async () => {
    const { page, close } = await visitSpeaking();
    await live(page).getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => whole(page).count()).toBe(1);
    const said = (await whole(page).locator('.prose').textContent()) ?? '';
    expect(said.length).toBeGreaterThan(20);
    // The engine hears of it too: nothing runs for it any more.
    await expect.poll(isIdle).toBe(true);

    // What the service would only tell at its end is counted here.
    const ledger = await whole(page).locator('.ledger').textContent();
    expect(ledger).toMatch(
      /about [\d.]+ tokens\/s · first word [\d.]+ m?s · stopped by you.*about \d+ generated/,
    );

    await page.getByRole('button', { name: 'Try again' }).click();
    await live(page).waitFor();
    await live(page).getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => page.locator('.pager').textContent()).toContain('2 of 2');
    await page.getByRole('button', { name: 'Previous version' }).click();
    expect(await whole(page).locator('.prose').textContent()).toBe(said);
    await close();
  });

  it('is stopped by the removal of its conversation, which comes back with what was said', async () => {
    const { page, close } = await visitSpeaking();
    await page.getByRole('button', { name: 'Remove forever' }).click();
    await expect.poll(isIdle).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.conversations .item a').first().click();
    await whole(page).waitFor();
    expect(((await whole(page).locator('.prose').textContent()) ?? '').length).toBeGreaterThan(20);
    expect(await whole(page).locator('.ledger').textContent()).toContain('stopped by you');
    await close();
  });

  it('is stopped by the removal of an earlier message, or of its conversation in another tab', async () => {
    const { page, tab, close } = await visit();
    await page.getByLabel('Model of column 1').selectOption('far/tale');
    await send(page, 'to begin with');
    await expect.poll(() => whole(page).count()).toBe(1);
    await page.getByLabel('Model of column 1').selectOption('hearth-mini');
    const speak = async () => {
      await send(page, 'forever');
      await expect
        .poll(async () => (await live(page).locator('.prose').textContent())?.length)
        .toBeGreaterThan(20);
    };
    await speak();
    await whole(page).getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete this and what follows' }).click();
    await expect.poll(isIdle).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => whole(page).count()).toBe(2);
    expect(await whole(page).last().textContent()).toContain('stopped by you');

    await speak();
    await page.getByLabel('Your message').fill('the next one');
    const second = await tab();
    await second.goto(`${rig.served.url}/ui/`);
    await second.locator('.conversations .item').hover();
    await second.getByRole('button', { name: 'Remove to begin with' }).click();
    await expect.poll(isIdle).toBe(true);
    await expect.poll(() => page.locator('.entry').count()).toBe(0);
    // Keeps the unsent message.
    expect(await page.getByLabel('Your message').inputValue()).toBe('the next one');
    await second.close();
    await close();
  });

  it('shows its reasoning apart, and not among its words', async () => {
    const { page, close } = await visit();
    await page.getByLabel('Model of column 1').selectOption('far/thinks');
    await send(page, 'Think first.');
    await expect.poll(() => whole(page).count()).toBe(1);
    const reasoning = whole(page).locator('.reasoning');
    await reasoning.getByText('Reasoning').click();
    expect(await reasoning.textContent()).toContain('Let me see.');
    expect(await whole(page).locator('.prose').last().textContent()).not.toContain('Let me see.');
    await close();
  });
});

describe('the same prompt', () => {
  it('is put to three models side by side, and each answers by itself', async () => {
    const { page, close } = await visit();
    const models = ['hearth-mini', 'far/tale', 'far/thinks'];
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    for (const [at, model] of models.entries())
      await page.getByLabel(`Model of column ${at + 1}`).selectOption(model);
    await send(page, 'forever');
    const lane = (at: number) => page.locator('.lane').nth(at);
    await expect.poll(() => lane(1).locator('.entry.assistant:not(.live)').count()).toBe(1);
    await expect.poll(() => lane(2).locator('.entry.assistant:not(.live)').count()).toBe(1);
    expect(await lane(1).locator('.prose').textContent()).toContain('word0 word1');
    expect(await lane(2).textContent()).not.toContain('word0');
    // The first still speaks, and only it is stopped.
    await lane(0).getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => whole(page).count()).toBe(3);
    // Columns are no versions of each other.
    expect(await page.locator('.pager').count()).toBe(0);
    expect(
      rig.upstream.requests.filter(({ body }) => body?.messages?.[0]?.content === 'forever'),
    ).toHaveLength(2);
    await close();
  });
});

describe('the keyboard', () => {
  it('is enough to reach every view, to ask, and to close what is open', async () => {
    // The chat has the focus where its user writes; a view has it nowhere.
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/#/models`);
    const focused = () =>
      page.evaluate(() => document.activeElement?.textContent?.trim() || document.activeElement?.id || '');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');

    await page.reload();
    await page.locator('main[data-view="models"] h1').waitFor();
    for (const name of ['Skip to the content', 'New conversation', 'SearchCtrl K', 'Import']) {
      await page.keyboard.press('Tab');
      if (name !== 'Import') expect(await focused()).toBe(name);
    }
    // The first view is the chat, which takes the focus to its message.
    await page.keyboard.press('Tab');
    for (const [at, view] of ['engine', 'models', 'requests', 'proof'].entries()) {
      await page.keyboard.press('Tab');
      const ring = await page.evaluate(
        () => getComputedStyle(document.activeElement ?? document.body).outlineStyle,
      );
      expect([at, ring]).toEqual([at, 'solid']);
      await page.keyboard.press('Enter');
      await page.locator(`main[data-view="${view}"] h1`).waitFor({ state: 'attached' });
    }
    await page.goto(`${rig.served.url}/ui/#/chat`);
    await page.getByLabel('Model of column 1').selectOption('far/tale');
    await page.getByLabel('Your message').focus();
    await page.keyboard.type('One');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    await expect.poll(() => whole(page).count()).toBe(1);
    expect(await page.locator('.entry.user .said').textContent()).toBe('One\ntwo');
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('textarea');
    await page.getByRole('button', { name: 'As API call', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(await focused()).toBe('As API call');
    await close();
  });
});
