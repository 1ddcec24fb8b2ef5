import type { Page } from 'playwright-core';

const FILLER = 'The harvest was gathered and the barrels were rolled into the cellar before the frost.';
/** A long text in which two lines stand out. */
const LOG = Array.from({ length: 300 }, (_, at) => {
  if (at === 120) return 'The password of the printer on the second floor is swordfish.';
  if (at === 240) return 'The train to the mountains leaves every morning at seven.';
  return `${at}: ${FILLER}`;
}).join('\n');

/** Attaches it, of which only passages are sent. */
export async function attachLog(page: Page): Promise<void> {
  await page
    .getByLabel('Attach files')
    .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from(LOG) });
  await page.getByRole('button', { name: 'Only what matches in notes.txt' }).click();
}
