/** Models of upstreams in the views: named with their state where models are, and not offered where they cannot serve. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream/scripted-upstream.ts';
import { openPage, startBrowser } from './browser.ts';

let installation: Installation;
let served: Served;
let browser: Browser;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  [installation, browser] = await Promise.all([Installation.make({ trained: false }), startBrowser()]);
  upstream = await startUpstream();
  upstream.models = ['good'];
  const added = await installation.run(['upstream', 'add', 'far', `${upstream.url}/v1`]);
  if (added.code !== 0) throw new Error(added.stderr);
  served = await installation.serve({ SVC_NUM_THREADS: '1' });
});
afterAll(async () => {
  await browser.close();
  await upstream.close();
  await installation.remove();
});

describe('a model of an upstream', () => {
  it('is listed with its state, and with the way to add another', async () => {
    // Its state is known once it was asked something.
    await served.client.chat({ model: 'far/good', messages: [{ role: 'user', content: 'Hello' }] });
    const { page, close } = await openPage(browser, `${served.url}/ui/#/models`);
    const elsewhere = page.getByRole('region', { name: 'Models elsewhere' });
    await elsewhere.getByRole('heading', { name: 'far/good' }).waitFor();
    await elsewhere.locator('.tag', { hasText: 'ready' }).waitFor();
    expect(await elsewhere.textContent()).toContain('hearth upstream add');
    await close();
  });

  it('is not offered where this service must sign, and the fields there stand in one line', async () => {
    const { page, close } = await openPage(browser, `${served.url}/ui/#/proof`);
    const menu = page.getByLabel('Model');
    await expect.poll(() => menu.locator('option').allTextContents()).toEqual(['hearth-mini']);
    const [left, right] = await Promise.all([
      menu.boundingBox(),
      page.getByLabel('Maximum tokens').boundingBox(),
    ]);
    expect([left?.y, left?.height]).toEqual([right?.y, right?.height]);
    await close();
  });
});
