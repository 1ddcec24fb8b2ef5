/** The proof under an answer: asked for by one click, checked in the browser, opened, and exported with the conversation. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { pageRig } from './page-rig.ts';
import { answers, items, say } from './talking.ts';

const rig = pageRig();

describe('an answer', () => {
  it('is proved by one click, and a changed one is found out from the exported conversation', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`);
    await say(page, 'What is Hearth?');
    await page.getByRole('button', { name: 'Prove' }).click();
    const seal = page.locator('.seal');
    await expect.poll(() => seal.textContent()).toBe('Verified');
    // What was there before is still there.
    expect(await answers(page).locator('.pager').textContent()).toContain('2 of 2');
    const said = (await answers(page).locator('.prose').textContent()) ?? '';
    expect(said).toContain('Hearth');

    await seal.click();
    const verdict = page.locator('.verdict .word');
    await expect.poll(() => verdict.textContent()).toBe('Verified');
    await page.goBack();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const exported = await readFile(await download.path(), 'utf8');
    const conversations = JSON.parse(exported) as {
      conversations: { entries: { id: string; proof?: { record: string; verdict: string } }[] }[];
    };
    const entries = conversations.conversations[0]?.entries ?? [];
    // Ids of their own make them another conversation.
    const renamed = exported.replaceAll(entries[0]?.id ?? '', 'other');
    const proof = entries.find((entry) => entry.proof !== undefined)?.proof;
    const changed = JSON.stringify(proof?.record.replace('Hearth is', 'Hearth was'));
    expect(changed).not.toBe(JSON.stringify(proof?.record));
    const file = renamed.replace(JSON.stringify(proof?.record), changed);
    expect(file).not.toBe(renamed);
    await page.getByLabel('Import').setInputFiles({
      name: 'changed.json',
      mimeType: 'application/json',
      buffer: Buffer.from(file),
    });
    await expect.poll(() => items(page).count()).toBe(2);
    // A file cannot vouch for itself.
    await expect.poll(() => seal.textContent()).toBe('Record, not checked here yet');
    await seal.click();
    await expect.poll(() => verdict.textContent()).toBe('The answer was changed');
    await close();
  });
});
