/** The chat as a user has it: the built service with its own small models, and a real browser. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { pageRig } from './page-rig.ts';
import { PAYLOADS } from './payloads.ts';
import { answers, items, reload, say } from './talking.ts';

const rig = pageRig();

const visit = () => openPage(rig.browser, `${rig.served.url}/ui/`);

describe('a conversation', () => {
  it('streams an answer, and says what it took', async () => {
    const { page, close } = await visit();
    await say(page, 'What is Hearth?');
    expect(await answers(page).locator('.prose').textContent()).toContain('Hearth');
    const ledger = answers(page).locator('.ledger');
    await expect
      .poll(() => ledger.textContent())
      .toMatch(/[\d.]+ tokens\/s · first word [\d.]+ m?s.*prompt tokens, \d+ of them reused/);
    await close();
  });

  it('is tried again, said differently, and branched, and nothing is lost', async () => {
    const { page, close } = await visit();
    await say(page, 'What is Hearth?');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.locator('.pager').textContent()).toContain('2 of 2');
    await page.getByRole('button', { name: 'Previous version' }).click();
    expect(await page.locator('.pager').textContent()).toContain('1 of 2');

    await page.locator('.entry.user').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edited message').fill('How can I prove an answer?');
    await page.locator('.entry.user').getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => page.locator('.entry.user .pager').textContent()).toContain('2 of 2');
    await expect.poll(() => answers(page).count()).toBe(1);

    await page.getByRole('button', { name: 'Continue in a new conversation' }).click();
    await expect.poll(() => items(page).count()).toBe(2);
    expect(await items(page).first().textContent()).toContain('What is Hearth? (branch)');
    await close();
  });

  it('is kept in this browser, exported and read again', async () => {
    const { page, close } = await visit();
    await say(page, 'What is Hearth?');
    await reload(page);
    await expect.poll(() => answers(page).count()).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const file = await download.path();
    expect(await readFile(file, 'utf8')).toContain('What is Hearth?');
    await page.getByLabel('Import').setInputFiles(file);
    await page.getByText('0 conversations imported; 1 skipped: already here.').waitFor();
    await expect.poll(() => items(page).count()).toBe(1);
    const remove = page.getByRole('button', { name: 'Remove What is Hearth?' });
    await remove.click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await remove.click();
    await expect.poll(() => items(page).count()).toBe(0);
    await page.getByLabel('Import').setInputFiles(file);
    await expect.poll(() => items(page).count()).toBe(1);
    await close();
  });

  it('is exported with the presets, which another browser reads', async () => {
    const { page, close } = await visit();
    const preset = (system: string) => ({ name: 'Pirate', settings: { system } });
    const keep = (target: Page, system: string) =>
      target.evaluate((all) => localStorage.setItem('hearth.presets', JSON.stringify(all)), [preset(system)]);
    const kept = (target: Page) =>
      target.evaluate(() => JSON.parse(localStorage.getItem('hearth.presets') ?? '[]') as { name: string }[]);
    await keep(page, 'Talk like a pirate.');
    await reload(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^hearth-conversations-\d{4}-\d\d-\d\d\.json$/);
    const file = await readFile(await download.path(), 'utf8');
    await close();
    const other = await visit();
    // One of the same name with other settings stays.
    await keep(other.page, 'Talk like a parrot.');
    await reload(other.page);
    const read = () =>
      other.page.getByLabel('Import').setInputFiles({
        name: 'all.json',
        mimeType: 'application/json',
        buffer: Buffer.from(file),
      });
    await read();
    await other.page.getByText('0 conversations and 1 preset imported.').waitFor();
    await read();
    await other.page.getByText('0 conversations imported.').waitFor();
    expect((await kept(other.page)).map(({ name }) => name)).toEqual(['Pirate', 'Pirate (imported)']);
    await other.close();
  });

  it('is put to two models side by side', async () => {
    const { page, close } = await visit();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await expect.poll(() => page.locator('.lane').count()).toBe(2);
    await page.getByLabel('Your message').fill('Hello!');
    await page.keyboard.press('Enter');
    await expect.poll(() => answers(page).count()).toBe(2);
    for (const lane of await page.locator('.lane').all())
      expect(await lane.locator('.prose').textContent()).toMatch(/\w/);
    await close();
  });
});

describe('what is asked beside the words', () => {
  it('are tools, whose calls are answered by hand', async () => {
    const { page, close } = await visit();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Add a tool' }).click();
    await page.getByLabel('Temperature').fill('0');
    await page.getByLabel('Tool use').selectOption('required');
    await say(page, 'What is the weather in Oslo?');
    const call = page.locator('.call');
    expect(await call.locator('pre').textContent()).toContain('Oslo');
    await page.getByLabel('Tool use').selectOption('auto');
    await call.getByLabel('Result').fill('{"temperature": 7, "sky": "rain"}');
    await page.getByRole('button', { name: 'Send the result' }).click();
    await expect.poll(() => answers(page).count()).toBe(2);
    expect(await answers(page).last().locator('.prose').textContent()).toMatch(/\w/);
    await close();
  });

  it('is the form of the answer, and what is wrong with it is said before anything is sent', async () => {
    const { page, close } = await visit();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Insert an example' }).click();
    const schema = page.getByRole('textbox', { name: 'JSON Schema A complete' });
    await schema.fill(
      '{"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}',
    );
    await say(page, 'Are you sure?');
    const text = (await answers(page).locator('.prose').textContent()) ?? '';
    expect(typeof (JSON.parse(text) as { sure: unknown }).sure).toBe('boolean');
    await page.getByLabel('Maximum tokens').fill('3');
    await say(page, 'Are you sure?');
    const cut = answers(page).last();
    expect(await cut.locator('.warning').textContent()).toMatch(/not complete JSON: .* limit of 3 tokens/);

    await schema.fill('{');
    await page.getByLabel('Your message').fill('Again');
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await close();
  });

  it('stays in sight while it is in use, and with the conversation that it was set for', async () => {
    const { page, close } = await visit();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Insert an example' }).click();
    await page.getByLabel('System prompt').fill('Be brief.');
    const inUse = page.getByRole('list', { name: 'Settings in use' });
    await expect.poll(() => inUse.locator('li').count()).toBe(2);
    await say(page, 'Are you sure?');

    await page.getByRole('button', { name: 'New conversation' }).first().click();
    await page.getByText('A new conversation starts without settings.').waitFor();
    expect(await inUse.count()).toBe(0);
    await page.getByRole('button', { name: 'Reuse system prompt, JSON Schema' }).click();
    await page.getByRole('button', { name: 'Clear JSON Schema' }).click();
    expect(await inUse.textContent()).toBe('System prompt');
    await items(page).first().locator('a').click();
    await expect.poll(() => inUse.textContent()).toContain('JSON Schema');
    await close();
  });

  it('is told to be too long, with what helps beside it', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, { expected: [/400 \(/] });
    await say(page, 'word '.repeat(6000));
    const failure = page.locator('.entry .failure');
    expect(await failure.textContent()).toMatch(/conversation is too long: it takes .* tokens/);
    expect(await failure.textContent()).not.toContain('hearth set');
    await failure.getByRole('button', { name: 'New conversation' }).click();
    await expect.poll(() => page.locator('.entry').count()).toBe(0);
    await close();
  });

  it('is shown as code of three languages', async () => {
    const { page, close } = await visit();
    await page.getByRole('button', { name: 'As API call', exact: true }).click();
    for (const [language, words] of [
      ['curl', 'curl http'],
      ['JavaScript', 'new OpenAI('],
      ['Python', 'from openai import OpenAI'],
    ] as const) {
      await page.getByRole('button', { name: language, exact: true }).click();
      expect(await page.getByRole('dialog').textContent()).toContain(words);
    }
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await close();
  });
});

describe('hostile answers', () => {
  it(`stay text: ${PAYLOADS.length} of them`, async () => {
    expect(PAYLOADS.length).toBeGreaterThanOrEqual(60);
    const { page, close } = await visit();
    await page.getByLabel('Import').setInputFiles({
      name: 'hostile.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(hostileFile())),
    });
    await expect.poll(() => answers(page).count()).toBe(PAYLOADS.length);
    const found = await page.evaluate(() => ({
      broken: Reflect.get(window, 'broken') as unknown,
      elements: [...document.querySelectorAll('.entries *')]
        // The pictures of the page's own buttons.
        .filter((element) => !element.matches('svg.icon'))
        .map(({ localName }) => localName)
        .filter((name) =>
          /^(?:script|img|svg|iframe|object|embed|video|audio|style|link|meta|base|form|math|template|source)$/.test(
            name,
          ),
        ),
      handlers: [...document.querySelectorAll('.entries *')].flatMap((element) =>
        element
          .getAttributeNames()
          .filter((name) => name.startsWith('on') || name === 'style' || name === 'src'),
      ),
      links: [...document.querySelectorAll<HTMLAnchorElement>('.entries a')].map(({ protocol, host, rel }) =>
        [protocol, host, rel].join(' '),
      ),
    }));
    const traces = found.handlers.filter((name) => name !== 'style');
    expect([found.broken, found.elements, traces]).toEqual([undefined, [], []]);
    expect([...new Set(found.links)]).toEqual(['https: evil.example noopener noreferrer nofollow']);
    await close();
  });
});

function hostileFile(): object {
  const entries = PAYLOADS.map((text, at) => ({
    id: String(at),
    parent: at === 0 ? null : String(at - 1),
    role: 'assistant',
    text,
    reasoning: text,
  }));
  const leaf = entries.at(-1)?.id;
  const conversation = {
    title: '<img src=x onerror=window.broken=1>',
    entries,
    lanes: [{ model: 'default', leaf }],
  };
  return { kind: 'hearth.conversations', version: 1, conversations: [conversation] };
}
