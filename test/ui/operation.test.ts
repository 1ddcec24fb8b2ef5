/** What the page shows of a running service, and changes in it: engine room, requests, models. */
import { cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';
import { tinyModels } from '../support/tiny-models.ts';
import { openPage, startBrowser } from './browser.ts';

let installation: Installation;
let served: Served;
let browser: Browser;
beforeAll(async () => {
  // The tiny model never ends its turn after this word, so that there is something to see.
  [installation, browser] = await Promise.all([Installation.make({ trained: false }), startBrowser()]);
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
  logprobs: true,
  top_logprobs: 20,
});

describe('the engine room', () => {
  it('shows a lane for every slot, who is answered, and the memory', async () => {
    const { page, close } = await open('engine');
    const stream = served.client.streamChat(endless(1900), { 'x-svc-client-id': 'editor' });
    const busy = page.locator('.slot.decode');
    await expect.poll(() => busy.count()).toBe(1);
    expect(await busy.textContent()).toMatch(/generated.*editor/);
    expect(await page.locator('.slot').count()).toBe(4);
    expect(await page.locator('.queue').textContent()).toContain('editor');
    expect(await page.locator('.memory').textContent()).toMatch(/free of .* GB.*planned/);
    const words = await busy.textContent();
    await expect.poll(() => busy.textContent()).not.toBe(words);
    (await stream).abandon();
    await expect.poll(() => page.locator('.slot.kept').count()).toBe(1);
    expect(await page.locator('.recording').textContent()).toContain('is being recorded');
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
    expect(await row.getByRole('img').getAttribute('aria-label')).toMatch(/prefilled .* generated/);
    await row.getByRole('button').click();
    await page.locator('.details-of-request').getByText('"Hello"').waitFor();
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

    await second.getByLabel('Another name').fill('other');
    await second.getByRole('button', { name: 'Add' }).click();
    await second.getByRole('button', { name: 'Remove the alias other' }).waitFor();
    await second.getByLabel('Setting').selectOption('temperature');
    await second.getByLabel('Value').fill('0.5');
    await second.getByRole('button', { name: 'Set', exact: true }).click();
    await expect.poll(() => second.locator('.pairs').textContent()).toContain('temperature0.5');
    await second.getByRole('button', { name: 'Does it fit now?' }).click();
    await second.getByText(/A load would take .* on CPU/).waitFor();
    await second.getByRole('button', { name: 'Verify the files' }).click();
    await page.locator('.changes li', { hasText: 'Checking' }).getByText('done').waitFor();
    // The newest model of a user is the default, until another one is chosen.
    await second.locator('.tag.warm').waitFor();
    const first = row(page, 'hearth-mini');
    await first.getByText('Details of hearth-mini').click();
    await first.getByRole('button', { name: 'Make default' }).click();
    await first.locator('.tag.warm').waitFor();
    await second.getByRole('button', { name: 'Remove', exact: true }).click();
    await second.getByRole('button', { name: 'Really remove it' }).click();
    await expect.poll(() => page.getByRole('heading', { name: 'second', exact: true }).count()).toBe(0);
    await close();
  });

  it('are unloaded; what is refused is shown with its reason', async () => {
    await served.client.chat({ model: 'hearth-mini', max_tokens: 1 });
    const { page, close } = await openPage(browser, `${served.url}/ui/#/models`, { expected: [/40\d \(/] });
    const unload = row(page, 'hearth-mini').getByRole('button', { name: 'Unload' });
    await unload.click();
    await expect.poll(() => unload.count()).toBe(0);
    await page.getByLabel('Path on the machine').fill('/nowhere/at/all.gguf');
    await page.locator('form', { hasText: 'From a file' }).getByRole('button', { name: 'Install' }).click();
    const fault = page.locator('.changes .failure');
    await fault.waitFor();
    expect(await fault.textContent()).toContain('/nowhere/at/all.gguf');
    await close();
  });
});

const row = (page: Page, id: string) =>
  page.locator('.model', { has: page.getByRole('heading', { name: id, exact: true }) });
