/** The gauge of the window: what is counted, and whose window it is. */
import { expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { farRig } from './page-rig.ts';
import { choose, items, message } from './talking.ts';

const rig = farRig();

it('counts files that were sent, and measures with the window of the chosen model', async () => {
  const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`);
  const entries = [
    {
      id: 'a',
      parent: null,
      role: 'user',
      text: 'Why?',
      files: [{ name: 'a.log', text: '12:00 ok\n'.repeat(2000) }],
    },
    {
      id: 'b',
      parent: 'a',
      role: 'assistant',
      text: 'Because.',
      finish: 'stop',
      model: 'far/good',
      measures: { promptTokens: 10, answerTokens: 5, window: 1024 },
    },
  ];
  const conversation = { title: 'Log', entries, lanes: [{ model: 'far/good', leaf: 'b' }] };
  await page.getByLabel('Import').setInputFiles({
    name: 'c.json',
    mimeType: 'application/json',
    buffer: Buffer.from(
      JSON.stringify({ kind: 'hearth.conversations', version: 1, conversations: [conversation] }),
    ),
  });
  await expect.poll(() => items(page).count()).toBe(1);
  const gauge = page.locator('.gauge');
  await expect.poll(() => gauge.textContent()).toBe('15 of 1,024 tokens');
  await choose(page, 'hearth-mini');
  await expect.poll(() => gauge.textContent()).toMatch(/^about \d\d,\d{3} of 65,536 tokens$/);
  await page.setViewportSize({ width: 390, height: 844 });
  await message(page).fill('word '.repeat(70_000));
  await page.getByText('too long').waitFor();
  const right = (place: string) => page.locator(place).evaluate((each) => each.getBoundingClientRect().right);
  expect(await right('.composer .send')).toBeLessThan(await right('.composer .field'));
  await close();
});
