/** A long file of which only passages are sent: chosen by the embedding model of the service, shown, and chosen again. */
import { expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { attachLog } from './long-file.ts';
import { chips, pageRig } from './page-rig.ts';
import { answers, message, reload, say } from './talking.ts';

const rig = pageRig();

it('is searched with the message, shows what was sent, and is asked once more without a second reading', async () => {
  const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`);
  const sent: string[] = [];
  let embedded = 0;
  page.on('request', (request) => {
    const body = request.postData() ?? '';
    if (request.url().endsWith('/v1/chat/completions')) sent.push(body);
    if (request.url().endsWith('/v1/embeddings'))
      embedded += (JSON.parse(body) as { input: string[] }).input.length;
  });
  await attachLog(page);
  // Without a question there is nothing to look for.
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  await say(page, 'What is the password of the printer?');
  expect(sent[0]).toContain('swordfish');
  expect(sent[0]).toMatch(/File: notes\.txt \(\d+ passages? of it\)/);
  expect(sent[0]?.length).toBeLessThan(9000);
  expect(embedded).toBeGreaterThan(20);

  const used = page.locator('.entry.user .attachments li');
  expect(await used.textContent()).toMatch(/\d+ passages?, [\d,]+ of [\d,]+ characters/);
  await used.locator('summary').click();
  const shown = (await used.locator('pre').textContent()) ?? '';
  expect(shown).toMatch(/^\[Lines \d+ to \d+\]/);
  expect(sent[0]).toContain(JSON.stringify(shown).slice(1, -1));
  await reload(page);
  await expect.poll(() => used.count()).toBe(1);
  await used.locator('summary').click();
  expect(await used.locator('pre').textContent()).toBe(shown);

  await page.getByRole('button', { name: 'Ask notes.txt once more' }).click();
  await expect.poll(() => chips(page).count()).toBe(1);
  const before = embedded;
  await say(page, 'When does the train leave to the mountains?');
  expect(sent[1]).toContain('leaves every morning at seven');
  // The page was loaded anew, so it has read the file again.
  expect(embedded - before).toBeGreaterThan(20);
  // The window of the small model holds no third part of it; its vectors are of use in any conversation.
  await page.getByRole('button', { name: 'New conversation' }).first().click();
  await attachLog(page);
  const again = embedded;
  await say(page, 'What is on the second floor?');
  expect(embedded - again).toBe(1);
  expect(await answers(page).count()).toBe(1);
  await close();
});

it('is stopped, keeps the message, and says why a search failed', async () => {
  const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, { expected: [/503 \(/] });
  await attachLog(page);
  await page.route('**/v1/embeddings', () => undefined);
  await message(page).fill('What is the password?');
  await message(page).press('Enter');
  await page.getByText(/Searching notes\.txt, 0% of \d+ passages/).waitFor();
  await page.getByRole('button', { name: 'Stop the search' }).click();
  await expect.poll(() => page.locator('.searching').count()).toBe(0);
  expect(await message(page).inputValue()).toBe('What is the password?');
  await page.unroute('**/v1/embeddings');
  await page.route('**/v1/embeddings', (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/json',
      body: JSON.stringify({ code: 'x', message: 'No memory for it.' }),
    }),
  );
  await message(page).press('Enter');
  await page.getByText('The files could not be searched: No memory for it.').waitFor();
  expect(await page.locator('.entry').count()).toBe(0);
  await close();
});
