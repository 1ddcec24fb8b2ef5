/** What the page shows of a running service, and changes in it: engine room, requests, models. */
import { cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deferred } from '../../src/lib/base/deferred.ts';
import type { Installation, Served } from '../support/process/installation.ts';
import { tinyModels } from '../support/tiny-models.ts';
import { openPage, startBrowser } from './browser.ts';
import { tinyInstallation } from './page-rig.ts';

let installation: Installation;
let served: Served;
let browser: Browser;
beforeAll(async () => {
  // The tiny model never ends its turn after this word, so that there is something to see.
  [installation, browser] = await Promise.all([tinyInstallation(), startBrowser()]);
  served = await installation.serve({ SVC_NUM_THREADS: '1', SVC_NUM_PARALLEL: '4', SVC_RECORD: 'text' });
});
afterAll(async () => {
  await browser.close();
  await installation.remove();
});

const open = (view: string) => openPage(browser, `${served.url}/ui/#/${view}`);
const endless = (max_tokens: number) => ({
  messages: [{ role: 'user', content: 'forever' }],
  max_tokens,
  num_ctx: 32_768,
  logprobs: true,
  top_logprobs: 20,
});

describe('the engine room', () => {
  it('shows a lane for every slot, who is answered, and the memory', async () => {
    const { page, close } = await open('engine');
    const stream = served.client.streamChat(endless(30_000), { 'x-svc-client-id': 'editor' });
    const busy = page.locator('.slot.decode');
    await expect.poll(() => busy.count()).toBe(1);
    expect(await busy.textContent()).toMatch(/generated.*editor/);
    // Slots that nobody uses are counted, and not drawn.
    await expect.poll(() => page.locator('.slot').count()).toBe(1);
    expect(await page.locator('.model-lanes').textContent()).toContain('1 of 4 slots in use');
    expect(await page.locator('.queue').textContent()).toContain('editor');
    expect(await page.locator('.memory').textContent()).toMatch(/of .* GB free.*planned/);
    const words = await busy.textContent();
    await expect.poll(() => busy.textContent()).not.toBe(words);
    (await stream).abandon();
    await expect.poll(() => page.locator('.slot.kept').count()).toBe(1);
    expect(await page.locator('.recording').textContent()).toContain('are being recorded');
    // A model is unloaded and loaded where one looks.
    await page.getByRole('button', { name: 'Unload hearth-mini' }).click();
    const load = page.getByRole('button', { name: 'Load hearth-mini', exact: true });
    await load.click();
    await page.getByRole('button', { name: 'Unload hearth-mini' }).waitFor();
    expect(await load.count()).toBe(0);
    await close();
  });

  it('stops the answer of another client, after a question, and that client reads why', async () => {
    const { page, close } = await open('engine');
    const stream = await served.client.streamChat(endless(30_000), { 'x-svc-client-id': 'editor' });
    const stop = page.getByRole('button', { name: 'Stop the request of editor' });
    await stop.click();
    const question = page.getByRole('group', { name: 'Stop the request of editor' });
    await question.getByRole('button', { name: 'Let it run' }).click();
    await stop.click();
    await question.getByRole('button', { name: 'Stop it' }).click();
    await expect.poll(() => page.locator('.slot.decode').count()).toBe(0);
    expect((await stream.all()).error?.code).toBe('stopped_by_operator');
    await close();
  });

  it('stops what this page waits for', async () => {
    const { page, close } = await open('chat');
    await page.getByLabel('Your message').fill('forever');
    await page.keyboard.press('Enter');
    await page.locator('.entry.assistant.live .prose').waitFor();
    await page.locator('nav a[href="#/engine"]').click();
    await page.getByRole('button', { name: 'Stop the answers of this tab' }).click();
    await expect.poll(() => page.locator('.slot.decode').count()).toBe(0);
    await page.locator('nav a[href="#/chat"]').click();
    await page.getByText('stopped by you').waitFor();
    await close();
  });
});

describe('the requests', () => {
  it('are a table that grows, with their stages and the text that was kept', async () => {
    const { page, close } = await open('requests');
    await served.client.chat(
      { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 8 },
      { 'x-svc-client-id': 'notes' },
    );
    const row = page.locator('tbody tr', { hasText: 'notes' }).first();
    await row.waitFor();
    // The page's own calls only show when they are wanted.
    const own = page.locator('tbody tr', { hasText: 'Hearth page', hasNotText: 'hearth-mini' });
    expect(await own.count()).toBe(0);
    // Nor what the browser fetched to show it.
    expect(await page.locator('tbody').textContent()).not.toContain('/ui/');
    await page.getByLabel(/own status requests/).check();
    await expect.poll(() => own.count()).toBeGreaterThan(0);
    await page.getByLabel(/own status requests/).uncheck();
    expect(await row.getByRole('img').getAttribute('aria-label')).toMatch(/processed .* generated/);
    // The whole row opens it.
    await row.locator('td').first().click();
    await page.locator('.details-of-request').getByText('"Hello"').waitFor();
    expect(await page.locator('.request-id').textContent()).toMatch(
      /Request ID req_[\w-]{8,} .*Copy log command/,
    );
    const figures = await page.locator('.details-of-request .pairs').first().textContent();
    expect(figures).toMatch(/First token after[\d.]+ m?s/);
    expect(figures).not.toMatch(/[a-z]_[a-z]/);
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.locator('.details-of-request').getByText('chat.completion').first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as HAR' }).click(),
    ]);
    const { log } = JSON.parse(await readFile(await download.path(), 'utf8')) as { log: { version: string } };
    expect(log.version).toBe('1.2');
    await close();
  });
});

describe('the models', () => {
  it('are installed from a file, named, set, verified, made the default and removed', async () => {
    const file = path.join(installation.folder, 'second.gguf');
    await cp(tinyModels.chat, file);
    const { page, close } = await open('models');
    await page.getByLabel('Path on the machine').fill(file);
    await page.locator('form', { hasText: 'From a file' }).getByRole('button', { name: 'Install' }).click();
    const second = row(page, 'second');
    await second.waitFor();
    await second.getByText('Details of second').click();

    await second.getByLabel('Alias').fill('other');
    await second.getByRole('button', { name: 'Add' }).click();
    await second.getByRole('button', { name: 'Remove the alias other' }).waitFor();
    await page.locator('nav a[href="#/chat"]').click();
    const names = page.getByLabel('Model of column 1').locator('option');
    await expect.poll(() => names.allTextContents()).toContain('other (second)');
    await page.locator('nav a[href="#/models"]').click();

    await second.getByText('Settings of second').click();
    const settings = second.getByRole('form', { name: 'Settings of second' });
    await settings.getByLabel('Find a setting').fill('temperature');
    const temperature = settings.getByRole('spinbutton', { name: 'Temperature temperature' });
    expect(await temperature.getAttribute('placeholder')).toBe('default: 0.8');
    await temperature.fill('0.5');
    await settings.getByLabel('Find a setting').fill('num_ctx');
    await settings.getByLabel('Context window').fill('100000');
    await settings.getByRole('button', { name: 'Save temperature, context window' }).click();
    await settings.getByText(/The window will be [\d,]+ tokens and not 100,000/).waitFor();
    const summary = second.locator('summary', { hasText: 'Settings of second' });
    await expect.poll(() => summary.textContent()).toContain('(context window, temperature)');
    await settings.getByLabel('Find a setting').fill('kv_type');
    await expect.poll(() => settings.locator('.setting').count()).toBe(3);

    await second.getByText(/^fits.*: .* of .* GB at [\d,]+ tokens/).waitFor();
    expect(await second.getByRole('list', { name: 'Abilities' }).textContent()).toContain('tools');
    await second.getByText('Details of second').click();
    await second.getByRole('button', { name: 'Verify files' }).click();
    await second
      .locator('.changes li', { hasText: 'Verifying' })
      .getByText('intact: all bytes match')
      .waitFor();
    // The newest model of a user is the default, until another one is chosen.
    await second.locator('.tag.default').waitFor();
    const first = row(page, 'hearth-mini');
    await first.getByRole('button', { name: 'Make default' }).click();
    await first.locator('.tag.default').waitFor();
    const question = second.getByRole('group', { name: 'Remove second' });
    await second.getByRole('button', { name: 'Remove', exact: true }).click();
    // It does not stay armed when neither the pointer nor the focus is on it.
    await page.getByLabel('Path on the machine').hover();
    await page.getByLabel('Path on the machine').focus();
    await expect.poll(() => question.count()).toBe(0);
    await second.getByRole('button', { name: 'Remove', exact: true }).click();
    expect(await question.textContent()).toContain('Its file is not deleted.');
    await question.getByRole('button', { name: 'Remove second' }).click();
    await expect.poll(() => page.getByRole('heading', { name: 'second', exact: true }).count()).toBe(0);
    await close();
  });

  it('keep what was typed while their settings were being saved', async () => {
    const { page, close } = await open('models');
    const mini = row(page, 'hearth-mini');
    await mini.getByText('Details of hearth-mini').click();
    await mini.getByText('Settings of hearth-mini').click();
    const settings = mini.getByRole('form', { name: 'Settings of hearth-mini' });
    await settings.getByLabel('Find a setting').fill('temperature');
    const temperature = settings.getByRole('spinbutton', { name: 'Temperature temperature' });
    const arrived = deferred<void>();
    const typed = deferred<void>();
    await page.route('**/svc/models/settings', async (route) => {
      arrived.resolve();
      await typed.promise;
      await route.continue();
    });
    await temperature.fill('0.5');
    const save = settings.getByRole('button', { name: 'Save temperature' });
    await save.click();
    await arrived.promise;
    await temperature.fill('0.7');
    typed.resolve();
    const summary = mini.locator('summary', { hasText: 'Settings of hearth-mini' });
    await expect.poll(() => summary.textContent()).toContain('(temperature)');
    expect(await temperature.inputValue()).toBe('0.7');
    await expect.poll(() => save.count()).toBe(1);
    await close();
  });

  it('are unloaded; what is refused is shown with its reason', async () => {
    await served.client.chat({ model: 'hearth-mini', max_tokens: 1 });
    const { page, close } = await openPage(browser, `${served.url}/ui/#/models`, { expected: [/40\d \(/] });
    const mini = row(page, 'hearth-mini');
    await mini.getByText(/in memory, .* · window [\d,]+ · /).waitFor();
    const unload = mini.getByRole('button', { name: 'Unload' });
    await unload.click();
    await expect.poll(() => unload.count()).toBe(0);
    await mini.getByRole('button', { name: 'Load', exact: true }).click();
    await unload.waitFor();
    await page.getByLabel('Path on the machine').fill('/nowhere/at/all.gguf');
    await page.locator('form', { hasText: 'From a file' }).getByRole('button', { name: 'Install' }).click();
    const fault = page.locator('form', { hasText: 'From a file' }).locator('.changes .failure');
    await fault.waitFor();
    expect(await fault.textContent()).toContain('/nowhere/at/all.gguf');
    await close();
  });
});

describe('the only chat model', () => {
  it('is gone everywhere once it is removed, and a button brings it back', async () => {
    await served.client.chat({ model: 'hearth-mini', max_tokens: 1 });
    const { page, close } = await open('models');
    const mini = row(page, 'hearth-mini');
    await mini.getByRole('button', { name: 'Remove', exact: true }).click();
    expect(await mini.locator('.question').textContent()).toMatch(/only chat model.*brings it back/);
    await mini.getByRole('button', { name: 'Remove hearth-mini' }).click();
    const restore = page.getByRole('button', { name: 'Restore hearth-mini' });
    await restore.waitFor();
    const isLoaded = async () => (await served.client.get('/svc/residency')).body.data.length > 0;
    await expect.poll(isLoaded).toBe(false);
    await page.locator('nav a[href="#/chat"]').click();
    await page.getByText('No chat model is installed.').waitFor();
    expect(await page.getByLabel('Model of column 1').locator('option').allTextContents()).toEqual([
      'default',
    ]);

    await page.getByRole('link', { name: 'Open Models' }).click();
    await restore.click();
    await mini.getByText('Details of hearth-mini').waitFor();
    await page.locator('nav a[href="#/chat"]').click();
    await page.getByText('Ask the models on this machine.').waitFor();
    await close();
  });
});

const row = (page: Page, id: string) =>
  page.locator('.model', { has: page.getByRole('heading', { name: id, exact: true }) });
