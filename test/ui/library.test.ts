/** Models that come from elsewhere, as a user brings them in: a hub that breaks off, and the store of another program. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deferred } from '../../src/lib/base/deferred.ts';
import { encodeGguf } from '../../tools/gguf/writer.ts';
import { tinyChatContent } from '../../tools/models/tiny-chat.ts';
import { startFakeHub } from '../support/hub/fake-hub.ts';
import type { Settings } from '../support/process/hearth.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { tinyModels } from '../support/tiny-models.ts';
import { openPage, startBrowser } from './browser.ts';

const REPO = 'acme/Tiny-GGUF';
const FILE = 'Tiny-Q4_K_M.gguf';

let installation: Installation;
let browser: Browser;
let content: Buffer;
beforeAll(async () => {
  // Of some size, because progress is told by the megabyte.
  content = await readFile('models/hearth-embed/model.gguf');
  [installation, browser] = await Promise.all([Installation.make({ trained: false }), startBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await installation.remove();
});

const serve = (settings: Settings): Promise<Served> =>
  installation.serve({ SVC_NUM_THREADS: '1', ...settings });
const open = ({ url }: Served, expected: readonly RegExp[] = []) =>
  openPage(browser, `${url}/ui/#/models`, { expected });

describe('a model of the hub', () => {
  it('is chosen by what fits, fetched with progress, stopped, and fetched on from there', async () => {
    const hub = await startFakeHub({ [FILE]: content }, REPO);
    const served = await serve({ HF_ENDPOINT: hub.endpoint, SVC_HUB_HOSTS: new URL(hub.cdn).host });
    const half = Math.floor(content.length / 2);
    const stalled = deferred<void>();
    hub.onCdn = (_request, response) => {
      response.writeHead(200, { 'content-length': content.length, 'accept-ranges': 'bytes' });
      response.write(content.subarray(0, half));
      void stalled.promise.then(() => response.destroy());
      return true;
    };
    const { page, close } = await open(served, [/40\d \(/]);
    await page.getByRole('button', { name: 'Add a model' }).click();
    const field = page.getByLabel('Find a model');
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.type('tiny model');
    await page.keyboard.press('Enter');
    const found = page.getByRole('list', { name: 'Found on the hub' });
    await found.getByText('1,200 downloads').waitFor();
    expect(hub.requests('hub').at(-1)?.path).toContain('search=tiny+model');
    await found.getByRole('button', { name: `Sizes of ${REPO}` }).click();
    const quant = page.getByRole('list', { name: `Sizes of ${REPO}` }).locator('li', { hasText: 'Q4_K_M' });
    await quant.waitFor();
    expect(await quant.textContent()).toMatch(/recommended.*fits: about .* of .*B at 8,192 tokens/);
    await quant.getByRole('button', { name: 'Download Q4_K_M' }).click();
    const change = page.locator('.changes li').first();
    await change.getByRole('progressbar').waitFor();
    await expect.poll(() => change.textContent()).toMatch(/[\d.]+ of [\d.]+ MB, \d+%/);
    await change.getByRole('button', { name: 'Stop' }).click();
    await change.getByText('stopped; what was fetched is kept').waitFor();

    stalled.resolve();
    hub.onCdn = () => false;
    const before = hub.requests('cdn').length;
    await change.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.changes li').first().getByText('done').waitFor();
    expect(hub.requests('cdn')[before]?.headers.range).toMatch(/^bytes=[1-9]\d*-/);
    const { body } = await served.client.get('/v1/models');
    expect(body.data.map(({ id }: { id: string }) => id)).toContainEqual(expect.stringMatching(/tiny/i));

    await field.fill('acme/nowhere');
    await page.getByRole('button', { name: 'Search' }).last().click();
    const fault = page.locator('form', { hasText: 'Download from the hub' }).locator('> .failure');
    await fault.waitFor();
    expect(await fault.textContent()).toContain('acme/nowhere');
    await close();
    served.signal('SIGTERM');
  });
});

describe("a model of another program's store", () => {
  it('is found and used where it lies', async () => {
    const folder = path.join(installation.folder, '.lmstudio', 'models', 'pub', 'Lent');
    await mkdir(folder, { recursive: true });
    await cp(tinyModels.chat, path.join(folder, 'Lent-Q8_0.gguf'));
    const served = await serve({ HOME: installation.folder, ...installation.anotherHome() });
    const { page, close } = await open(served);
    const others = page.getByRole('region', { name: 'From other programs' });
    await others.getByRole('button', { name: 'Find their models' }).click();
    const lent = others.locator('li', { hasText: 'pub/lent' });
    await lent.waitFor();
    expect(await lent.textContent()).toContain('lmstudio');
    await lent.getByRole('button', { name: 'Install' }).click();
    await page.locator('.changes li').first().getByText('done').waitFor();
    const { body } = await served.client.get('/v1/models');
    expect(body.data.map(({ id }: { id: string }) => id)).toContain('pub/lent');
    await close();
  });
});

describe('a model that was measured', () => {
  it('shows the verdict of hearth eval and the plot that --svg writes', async () => {
    const home = installation.anotherHome();
    const served = await serve(home);
    const { page, close } = await open(served);
    const details = page.locator('.model', { hasText: 'hearth-mini' }).locator('details').first();
    const summary = details.locator('summary');
    await summary.click();
    await details.getByText('Not measured yet: hearth eval hearth-mini.').waitFor();
    const file = path.join(installation.folder, 'plot.svg');
    const args = ['eval', 'hearth-mini', '--texts-only', '--json', '--svg', file];
    const { code, stdout, stderr } = await installation.run(args, { ...home, SVC_NUM_THREADS: '1' });
    expect(code, stderr).toBe(0);
    // The next opening reads it.
    await summary.click();
    await summary.click();
    const shown = details.getByRole('region', { name: 'Evaluation of hearth-mini' });
    await shown.getByText(JSON.parse(stdout).verdict).waitFor();
    const plot = shown.getByRole('img', { name: 'hearth-mini: bits per byte of text (less is better)' });
    const widths = await plot
      .locator('rect')
      .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute('width'))));
    const written = [...(await readFile(file, 'utf8')).matchAll(/class="bar0" .*? width="(\d+)"/g)];
    expect(widths.length).toBeGreaterThan(9);
    expect(widths).toEqual(written.map(([, width]) => Number(width)));
    await summary.click();
    const passport = page
      .locator('.model', { hasText: 'hearth-mini' })
      .locator('details', { has: page.getByText('Passport of hearth-mini') });
    await passport.locator('summary').click();
    await passport.getByText('eval', { exact: true }).waitFor();
    const facts = await passport
      .locator('dl > div')
      .evaluateAll((rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent)));
    const told = await installation.run(['show', 'hearth-mini', '--passport'], home);
    expect(facts.map(([name = '', value = '']) => `${name.padEnd(18)}${value}`)).toEqual(
      told.stdout.trimEnd().split('\n'),
    );
    await close();
    served.signal('SIGTERM');
  });
});

describe('a base model in a file', () => {
  it('is found by its short path, gets a template by name, and leaves the default where it was', async () => {
    const base = encodeGguf(tinyChatContent({ chatTemplate: null }));
    await writeFile(path.join(installation.folder, 'base.gguf'), base);
    const served = await serve({ HOME: installation.folder, ...installation.anotherHome() });
    const { page, close } = await open(served);
    await page.getByLabel('Path on the machine that runs the service').fill('~/base.gguf');
    await page.getByRole('button', { name: 'Install', exact: true }).first().click();
    const card = page.locator('.model', { has: page.getByRole('heading', { name: 'base', exact: true }) });
    await card.getByText('base model', { exact: true }).waitFor();
    // It answers nothing in a form of its own.
    expect(await card.getByLabel('Abilities').count()).toBe(0);
    await card.getByText('Settings of base').click();
    await card.getByLabel('Find a setting').fill('template');
    await card.getByLabel('Known values of Chat template').selectOption('gemma');
    await card.getByRole('button', { name: 'Save chat template' }).click();
    await card.getByText(/^Saved\./).waitFor();
    await expect.poll(() => card.getByText('base model', { exact: true }).count()).toBe(0);
    expect(await card.locator('.tag.default').count()).toBe(0);
    const { body } = await served.client.get('/v1/identity');
    expect(body.default_model).toBe('hearth-mini');
    await close();
    served.signal('SIGTERM');
  });
});
