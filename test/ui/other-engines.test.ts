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
    // At one moment: what comes above them moves both.
    const places = await page.locator('.proof .fields :is(select, input)').evaluateAll((all) =>
      all.map((each) => {
        const { y, height } = each.getBoundingClientRect();
        return [y, height];
      }),
    );
    expect(places).toHaveLength(2);
    expect(places[0]).toEqual(places[1]);
    await close();
  });
});
