/** What tests do in the chat again and again, as its user would. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export const answers = (page: Page) => page.locator('.entry.assistant:not(.live)');
export const live = (page: Page) => page.locator('.entry.assistant.live');
export const items = (page: Page) => page.locator('.conversations .item');
export const message = (page: Page) => page.getByLabel('Your message');

export async function send(page: Page, text: string): Promise<void> {
  await message(page).fill(text);
  await message(page).press('Enter');
}

/** Sends, and waits for the end of the answer. */
export async function say(page: Page, text: string): Promise<void> {
  const before = await answers(page).count();
  await send(page, text);
  await expect.poll(() => answers(page).count()).toBe(before + 1);
}

export const choose = (page: Page, model: string) => page.getByLabel('Model of column 1').selectOption(model);

interface Said {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** Brings conversations in as a file. */
export async function importAll(
  page: Page,
  conversations: readonly {
    readonly title: string;
    readonly daysAgo?: number;
    readonly said: readonly Said[];
  }[],
): Promise<void> {
  const file = {
    kind: 'hearth.conversations',
    version: 1,
    conversations: conversations.map(({ title, daysAgo = 0, said }) => ({
      title,
      changedAt: Date.now() - daysAgo * 86_400_000,
      entries: said.map((each, at) => ({
        id: `${title} ${at}`,
        parent: at === 0 ? null : `${title} ${at - 1}`,
        ...each,
      })),
      lanes: [{ model: 'default', leaf: `${title} ${said.length - 1}` }],
    })),
  };
  await page.getByLabel('Import').setInputFiles({
    name: 'conversations.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(file)),
  });
  await expect.poll(() => items(page).count()).toBeGreaterThanOrEqual(conversations.length);
}

const STORES = { hearth: 'conversations', 'hearth-drafts': 'files' } as const;

/** Resolves when all that the page has begun to store is stored: such transactions run in the order of their making. */
export async function stored(page: Page): Promise<void> {
  for (const database of Object.entries(STORES)) {
    await page.evaluate(async ([name, store]) => {
      const all = await indexedDB.databases();
      if (!all.some((each) => each.name === name)) return;
      await new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open(name);
        opening.addEventListener('error', () => reject(new Error('no database')));
        opening.addEventListener('success', () => {
          const last = opening.result.transaction(store, 'readwrite');
          last.objectStore(store).count();
          last.addEventListener('complete', () => {
            opening.result.close();
            resolve();
          });
        });
      });
    }, database);
  }
}

/** Loads the page again once nothing is in the middle of being stored. */
export async function reload(page: Page): Promise<void> {
  await stored(page);
  await page.reload();
}

/** The texts that this browser keeps of all conversations. */
export const storedTexts = (page: Page): Promise<string[]> =>
  page.evaluate(
    () =>
      new Promise<string[]>((resolve, reject) => {
        const opening = indexedDB.open('hearth');
        opening.addEventListener('error', () => reject(new Error('no database')));
        opening.addEventListener('success', () => {
          const reading = opening.result.transaction('conversations').objectStore('conversations').getAll();
          reading.addEventListener('success', () => {
            opening.result.close();
            const all = reading.result as { entries: { text: string }[] }[];
            resolve(all.flatMap(({ entries }) => entries.map(({ text }) => text)));
          });
        });
      }),
  );
