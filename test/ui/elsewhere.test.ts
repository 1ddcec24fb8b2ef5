/** Models of upstreams in the views: named with their state where models are, and not offered where they cannot serve. */
import { describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { farRig } from './page-rig.ts';

const rig = farRig({ models: ['good'] });

describe('a model of an upstream', () => {
  it('is listed with its state, and with the way to add another', async () => {
    // Its state is known once it was asked something.
    await rig.served.client.chat({ model: 'far/good', messages: [{ role: 'user', content: 'Hello' }] });
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/#/models`);
    const elsewhere = page.getByRole('region', { name: 'Models of other engines' });
    await elsewhere.getByRole('heading', { name: 'far/good' }).waitFor();
    await elsewhere.locator('.tag', { hasText: 'ready' }).waitFor();
    expect(await elsewhere.textContent()).toContain('hearth upstream add');
    await close();
  });

  it('is not offered where this service must sign, and the fields there stand in one line', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/#/proof`);
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
