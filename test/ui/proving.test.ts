/** The proof under an answer: asked for by one click, checked in the browser, opened, and exported with the conversation. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdBack, openPage } from './browser.ts';
import { pageRig } from './page-rig.ts';
import { answers, items, reload, say } from './talking.ts';

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
    // The question stands above it, the address leads to it again, and a link back to the conversation.
    expect(await page.getByLabel('The question').textContent()).toBe('What is Hearth?');
    await reload(page);
    await expect.poll(() => verdict.textContent()).toBe('Verified');
    await page.getByRole('link', { name: 'Back to “What is Hearth?”' }).click();
    await seal.waitFor();
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
    // A file cannot vouch for itself, and is not blamed before it was checked.
    await expect.poll(() => seal.textContent()).toBe('Record, not checked here yet');
    expect(await seal.getAttribute('class')).toBe('seal open');
    await seal.click();
    await expect.poll(() => verdict.textContent()).toBe('The answer was changed');
    await page.goBack();
    await expect.poll(() => seal.textContent()).toBe('The answer was changed');
    expect(await seal.getAttribute('class')).toBe('seal bad');
    await close();
  });

  it('stays proved when the key is rotated, and the next one is proved by the new key', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`);
    await say(page, 'What is Hearth?');
    const seals = page.locator('.seal');
    await page.getByRole('button', { name: 'Prove' }).click();
    await expect.poll(() => seals.allTextContents()).toEqual(['Verified']);
    expect((await rig.installation.run(['evidence', 'rotate'])).code).toBe(0);
    await say(page, 'What is a river?');
    await page.getByRole('button', { name: 'Prove' }).last().click();
    await expect.poll(() => seals.allTextContents()).toEqual(['Verified', 'Verified']);
    const keys: string[] = [];
    for (const seal of [seals.first(), seals.last()]) {
      await seal.click();
      await expect.poll(() => page.locator('.verdict .word').textContent()).toBe('Verified');
      keys.push(
        (await page
          .getByText(/signed by [0-9a-f]{64}/)
          .first()
          .textContent()) ?? '',
      );
      await page.goBack();
      await seals.first().waitFor();
    }
    expect(new Set(keys).size).toBe(2);
    await close();
  });

  it('has a view that shows nothing of another record, however slow its own check is', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`);
    const seals = page.locator('.seal');
    const question = page.getByLabel('The question', { exact: true });
    for (const [at, asked] of ['What is Hearth?', 'What is a river?'].entries()) {
      await say(page, asked);
      await page.getByRole('button', { name: 'Prove' }).last().click();
      await expect.poll(() => seals.count()).toBe(at + 1);
    }
    await seals.first().click();
    await expect.poll(() => question.textContent()).toBe('What is Hearth?');
    const ofFirst = page.url();
    await page.goBack();

    const identity = await holdBack(page, '**/v1/identity?*');
    await seals.last().click();
    await identity.asked;
    expect(await page.locator('.record').count()).toBe(0);
    // The check of the second ends while the first is open.
    await page.goto(ofFirst);
    identity.release();
    await expect.poll(() => question.textContent()).toBe('What is Hearth?');
    await reload(page);
    await expect.poll(() => question.textContent()).toBe('What is Hearth?');

    // An answer that was asked for in this view waits there.
    await page.goto(`${rig.served.url}/ui/#/proof`);
    const chat = await holdBack(page, '**/v1/chat/completions');
    await page.getByLabel('Question', { exact: true }).fill('What is a hill?');
    await page.getByRole('button', { name: 'Ask for a signed answer' }).click();
    await chat.asked;
    await page.goto(ofFirst);
    await expect.poll(() => question.textContent()).toBe('What is Hearth?');
    chat.release();
    await page.getByRole('button', { name: 'Ask for a signed answer' }).waitFor();
    expect(await question.textContent()).toBe('What is Hearth?');
    await page.goto(`${rig.served.url}/ui/#/proof`);
    await expect.poll(() => question.textContent()).toBe('What is a hill?');
    await close();
  });

  it('is proved to somebody else by one file, in the browser and on the command line', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`);
    await say(page, 'What is Hearth?');
    await page.getByRole('button', { name: 'Prove' }).click();
    await page.locator('.seal').click();
    const verdict = page.locator('.verdict .word');
    await expect.poll(() => verdict.textContent()).toBe('Verified');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the proof' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^hearth-proof-what-is-hearth-\d{4}-\d\d-\d\d\.json$/);
    const file = path.join(rig.installation.folder, 'proof.json');
    await download.saveAs(file);
    await close();

    const there = rig.installation.anotherHome();
    const verify = (...args: string[]) => rig.installation.run(['evidence', 'verify', file, ...args], there);
    expect(await verify('--pubkey', file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('verified at L1'),
    });
    // Without that, nobody has said that the key in the file is the issuer's.
    expect((await verify()).code).toBe(2);

    const other = await rig.installation.serve({ SVC_NUM_THREADS: '1', ...there });
    const theirs = await openPage(rig.browser, `${other.url}/ui/#/proof`);
    const choose = async (name: string, text: string) =>
      theirs.page.getByLabel('Choose files').setInputFiles({
        name,
        mimeType: 'application/json',
        buffer: Buffer.from(text),
      });
    const whole = await readFile(file, 'utf8');
    await choose('proof.json', whole);
    const here = theirs.page.locator('.verdict .word');
    await expect.poll(() => here.textContent()).toBe('Verified');
    expect(await theirs.page.locator('.verdict').getAttribute('class')).toBe('verdict open');
    await theirs.page.getByText('which anybody could have put there').waitFor();
    await choose('proof.json', whole.replace('Hearth is', 'Hearth was'));
    await expect.poll(() => here.textContent()).toBe('The answer was changed');
    const { record, public_key: key } = JSON.parse(whole) as { record: string; public_key: string };
    await choose('key.pem', key);
    await choose('response.json', record);
    await expect.poll(() => here.textContent()).toBe('Signed; the request was not compared');
    await theirs.close();
    other.signal('SIGTERM');
  });
});
