/** Results that arrive late, after the user has moved on: each is shown only under its own heading. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { holdBack, openPage } from './browser.ts';
import { attachLog } from './long-file.ts';
import { chips, pageRig } from './page-rig.ts';
import { pdf } from './pdf-file.ts';
import { answers, items, message, say, send } from './talking.ts';

const rig = pageRig();

const visit = (view = '') => openPage(rig.browser, `${rig.served.url}/ui/${view}`);
const prompts = (page: Page) => page.locator('.entry.user .said');
const begin = (page: Page) => page.getByRole('button', { name: 'New conversation' }).first().click();
const open = (page: Page, title: string) => page.getByRole('link', { name: title, exact: true }).click();
/** Waits until exactly these messages are shown. */
const shown = (page: Page, texts: readonly string[]) =>
  expect.poll(() => prompts(page).allTextContents()).toEqual(texts);

describe('a search of files', () => {
  it('ends with its conversation, whose message waits unsent', async () => {
    const { page, close } = await visit();
    await say(page, 'What is Hearth?');
    await say(page, 'What is a river?');
    await attachLog(page);
    const search = await holdBack(page, '**/v1/embeddings');
    await send(page, 'What is the password of the printer?');
    await search.asked;
    await page.getByRole('button', { name: 'Remove What is Hearth?' }).click();
    await shown(page, []);
    search.release();
    await begin(page);
    await say(page, 'What is a hill?');
    await shown(page, ['What is a hill?']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await shown(page, ['What is Hearth?', 'What is a river?']);
    expect(await page.locator('.searching').count()).toBe(0);
    expect(await message(page).inputValue()).toBe('What is the password of the printer?');
    expect(await chips(page).count()).toBe(1);
    await close();
  });

  it('for an edited message edits that message, wherever its user looks by then', async () => {
    const { page, close } = await visit();
    await say(page, 'What is Hearth?');
    await begin(page);
    await attachLog(page);
    await say(page, 'What is the password of the printer?');
    await page.locator('.entry.user').getByRole('button', { name: 'Edit' }).click();
    const narrow = page.locator('.entry.user').getByRole('button', { name: 'Only what matches' });
    await narrow.click();
    await narrow.click();
    await page.getByLabel('Edited message').fill('When does the train leave?');
    const search = await holdBack(page, '**/v1/embeddings');
    await page.getByLabel('Edited message').press('Enter');
    await search.asked;
    // A second press sends nothing twice.
    await page.getByLabel('Edited message').press('Enter');
    await open(page, 'What is Hearth?');
    await shown(page, ['What is Hearth?']);
    const sent = page.waitForRequest('**/v1/chat/completions');
    search.release();
    await sent;
    await shown(page, ['What is Hearth?']);
    await open(page, 'What is the password of the printer?');
    await shown(page, ['When does the train leave?']);
    expect(await page.locator('.entry.user .pager').textContent()).toContain('2 of 2');
    await close();
  });

  it('finds the same in a file that another conversation searches at the same time', async () => {
    const { page, close } = await visit();
    const bodies: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/chat/completions')) bodies.push(request.postData() ?? '');
    });
    await say(page, 'What is Hearth?');
    await attachLog(page);
    const first = await holdBack(page, '**/v1/embeddings');
    await send(page, 'What is the password of the printer?');
    await first.asked;
    await begin(page);
    await attachLog(page);
    const both = page.waitForRequest('**/v1/embeddings');
    await send(page, 'When does the train leave to the mountains?');
    await both;
    first.release();
    await expect.poll(() => bodies.length).toBe(3);
    expect(bodies.find((body) => body.includes('When does the train'))).toContain('every morning at seven');
    expect(bodies.find((body) => body.includes('What is the password'))).toContain('swordfish');
    await expect.poll(() => answers(page).count()).toBe(1);
    await close();
  });
});

describe('a file that is read', () => {
  const report = { name: 'report.pdf', mimeType: 'application/pdf', buffer: pdf(['Costs rose']) };

  it('and cannot be used is said so where it was attached', async () => {
    const { page, close } = await visit();
    await say(page, 'What is Hearth?');
    const worker = await holdBack(page, '**/pdf-*.js');
    await page.getByLabel('Attach files').setInputFiles({ ...report, buffer: Buffer.from('no pdf') });
    await worker.asked;
    await begin(page);
    worker.release();
    await page.getByLabel('Attach files').setInputFiles({ ...report, name: 'other.pdf' });
    await expect.poll(() => chips(page).count()).toBe(1);
    expect(await page.locator('.composer .failure').count()).toBe(0);
    await open(page, 'What is Hearth?');
    await page.getByText('The text of report.pdf cannot be read').waitFor();
    await close();
  });

  it('stays with the conversation that began meanwhile', async () => {
    const { page, close } = await visit();
    const worker = await holdBack(page, '**/pdf-*.js');
    await page.getByLabel('Attach files').setInputFiles(report);
    await worker.asked;
    await message(page).fill('typed');
    await page.locator('.welcome').getByRole('button', { name: 'What is Hearth?' }).click();
    await expect.poll(() => answers(page).count()).toBe(1);
    expect(await message(page).inputValue()).toBe('typed');
    worker.release();
    await expect.poll(() => chips(page).count()).toBe(1);
    await begin(page);
    await shown(page, []);
    expect([await chips(page).count(), await message(page).inputValue()]).toEqual([0, '']);
    await close();
  });
});

describe('what belongs to one conversation', () => {
  it('is not shown in its branch: an open edit, a proof in the making', async () => {
    const { page, close } = await visit();
    await say(page, 'What is Hearth?');
    await page.getByRole('button', { name: 'Continue in a new conversation' }).click();
    await expect.poll(() => items(page).count()).toBe(2);
    await open(page, 'What is Hearth?');
    await page.locator('.entry.user').getByRole('button', { name: 'Edit' }).click();
    const chat = await holdBack(page, '**/v1/chat/completions');
    await page.getByRole('button', { name: 'Prove' }).click();
    await chat.asked;
    await page.locator('.proving').waitFor();
    await open(page, 'What is Hearth? (branch)');
    await page.locator('.item.now', { hasText: '(branch)' }).waitFor();
    expect(await page.locator('.entry.user .said').count()).toBe(1);
    expect(await page.getByLabel('Edited message').count()).toBe(0);
    expect(await page.locator('.proving').count()).toBe(0);
    chat.release();
    await open(page, 'What is Hearth?');
    await page.locator('.seal').waitFor();
    await close();
  });

  it('is told there: that its settings are the defaults of its model', async () => {
    const { page, close } = await visit();
    await page.getByRole('button', { name: 'Settings' }).click();
    const field = page.getByRole('spinbutton', { name: 'Top k' });
    await field.fill('40');
    await say(page, 'What is Hearth?');
    const saving = await holdBack(page, '**/svc/models/settings');
    await page.getByRole('button', { name: 'Make these the defaults of hearth-mini' }).click();
    await saving.asked;
    await begin(page);
    await field.fill('7');
    const saved = page.waitForResponse('**/svc/models/settings');
    saving.release();
    await (await saved).finished();
    const note = page.getByText('hearth-mini begins with these from now on.');
    await open(page, 'What is Hearth?');
    await note.waitFor();
    await begin(page);
    await expect.poll(() => field.inputValue()).toBe('');
    expect(await note.count()).toBe(0);
    await close();
  });
});

describe('a proof', () => {
  it('is not made for a message that is deleted meanwhile', async () => {
    const { page, close } = await visit();
    await say(page, 'What is Hearth?');
    const chat = await holdBack(page, '**/v1/chat/completions');
    await page.getByRole('button', { name: 'Prove' }).click();
    await chat.asked;
    await page.locator('.entry.user').getByRole('button', { name: 'Delete this and what follows' }).click();
    await shown(page, []);
    chat.release();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => answers(page).count()).toBe(1);
    await expect.poll(() => page.locator('.proving').count()).toBe(0);
    await say(page, 'What is a river?');
    expect(await page.locator('.pager').count()).toBe(0);
    await close();
  });

  it('that was chosen before the key of the service is known is judged by that key', async () => {
    const asked = { model: 'default', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 8 };
    const { text } = await rig.served.client.chat(asked, { 'x-svc-evidence-mode': 'frozen-v1' });
    const { page, close } = await visit();
    await page.getByText(/^running, \d/).waitFor();
    const identity = await holdBack(page, '**/v1/identity?*');
    await page.goto(`${rig.served.url}/ui/#/proof`);
    await identity.asked;
    await page.getByLabel('Choose files').setInputFiles([
      { name: 'response.json', mimeType: 'application/json', buffer: Buffer.from(text) },
      { name: 'request.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(asked)) },
    ]);
    const verdict = page.locator('.verdict .word');
    await verdict.waitFor();
    expect(await verdict.textContent()).not.toBe('Verified');
    identity.release();
    await expect.poll(() => verdict.textContent()).toBe('Verified');
    await close();
  });

  it('that fails says so under its own address', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, { expected: [/503 \(/] });
    await say(page, 'What is Hearth?');
    await page.getByRole('button', { name: 'Prove' }).click();
    await page.locator('.seal').waitFor();
    await page.goto(`${rig.served.url}/ui/#/proof`);
    await page.getByRole('button', { name: 'Ask for a signed answer' }).waitFor();
    const chat = await holdBack(page, '**/v1/chat/completions', 503);
    await page.getByRole('button', { name: 'Ask for a signed answer' }).click();
    await chat.asked;
    await page.goBack();
    await page.locator('.seal').click();
    await page.locator('.verdict').waitFor();
    const answered = page.waitForResponse('**/v1/chat/completions');
    chat.release();
    await (await answered).finished();
    await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve))));
    expect(await page.locator('.proof .failure').count()).toBe(0);
    // The failure shows in its own view; the open record has none.
    await page.goto(`${rig.served.url}/ui/#/proof`);
    await page.getByText('status 503').waitFor();
    await page.goBack();
    await page.locator('.verdict').waitFor();
    expect(await page.locator('.proof .failure').count()).toBe(0);
    await close();
  });
});

describe('a view', () => {
  it('shows nothing of an earlier visit as the present', async () => {
    const { page, close } = await visit('#/engine');
    await page.locator('.figures').waitFor();
    await page.goto(`${rig.served.url}/ui/#/chat`);
    await message(page).waitFor();
    const events = await holdBack(page, '**/svc/events');
    await page.goto(`${rig.served.url}/ui/#/engine`);
    await events.asked;
    await page.getByText('Connecting to the engine…').waitFor();
    expect(await page.locator('.figures').count()).toBe(0);
    events.release();
    await page.locator('.figures').waitFor();
    await close();
  });

  it('lists the sizes that were asked for last, whichever answer comes last', async () => {
    const { page, close } = await visit('#/models');
    const quants = (repo: string) => ({
      repo,
      free_bytes: 1e12,
      advised: 'Q4_K_M',
      data: [{ label: 'Q4_K_M', size_bytes: 1e9, least_bytes: 1e9, usual_bytes: 2e9, fits: true }],
    });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => void (release = resolve));
    await page.route('**/svc/models/quants?*', async (route) => {
      const repo = new URL(route.request().url()).searchParams.get('ref') ?? '';
      if (repo.includes('Qwen3-4B')) await held;
      await route.fulfill({ json: quants(repo) });
    });
    const slow = page.waitForRequest(/quants.*Qwen3-4B/);
    await page.getByRole('button', { name: 'Sizes of Qwen/Qwen3-4B-GGUF' }).click();
    await slow;
    await page.getByRole('button', { name: 'Sizes of ggml-org/gemma-3-4b-it-GGUF' }).click();
    const list = page.getByRole('list', { name: 'Sizes of ggml-org/gemma-3-4b-it-GGUF' });
    await list.waitFor();
    const last = page.waitForResponse(/quants.*Qwen3-4B/);
    release();
    await (await last).finished();
    await page.getByLabel('Find a model').fill('read after it');
    expect(await list.count()).toBe(1);
    await close();
  });
});
