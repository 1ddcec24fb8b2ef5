/** Every control can be seen and pressed: in each view and panel, in each width, in light and dark. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { chips, farRig, type FarRig } from './page-rig.ts';
import { answers, choose, importAll, message, say, send } from './talking.ts';

const rig: FarRig = farRig({ models: ['good', 'refuses-400'] });

const WIDTHS = [390, 768, 1024, 1280, 1440, 2560] as const;
const THEMES = ['light', 'dark'] as const;

/** Controls of which a part lies outside the window, below something else, or outside their own frame. */
const unreachable = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const CONTROLS = 'a[href], button, input, select, textarea, summary';
    const top =
      document.querySelector('dialog[open]') ??
      document.querySelector('[role=menu]') ??
      document.querySelector('.rail.open') ??
      document.body;
    const isThere = (element: Element) =>
      element.checkVisibility({ visibilityProperty: true }) &&
      element.closest('.unseen, .skip') === null &&
      element.getBoundingClientRect().width > 0;
    /** A file is chosen by the label of its field. */
    const shown = (element: Element): Element =>
      element.matches('input.unseen') ? (element.closest('label') ?? element) : element;
    const hits = (element: Element, x: number, y: number): boolean => {
      const found = document.elementFromPoint(x, y);
      return (
        found !== null && (element.contains(found) || found.closest('label')?.contains(element) === true)
      );
    };
    const faultOf = (element: Element): string | null => {
      element.scrollIntoView({ block: 'center', inline: 'center' });
      const [box] = element.getClientRects();
      if (box === undefined) return 'not drawn';
      const edges = [box.left, innerWidth - box.right, box.top, innerHeight - box.bottom];
      if (Math.min(...edges) < -0.5) return 'outside the window';
      if (element.matches('button, .button, summary') && element.scrollWidth > element.clientWidth + 1)
        return 'its words do not fit';
      const y = box.top + box.height / 2;
      const at = { left: box.left + 3, middle: box.left + box.width / 2, right: box.right - 3 };
      const [covered] = Object.entries(at).find(([, x]) => !hits(element, x, y)) ?? [];
      return covered === undefined ? null : `something else at its ${covered}`;
    };
    const nameOf = (element: Element): string =>
      `${element.localName} "${(element.getAttribute('aria-label') ?? element.textContent ?? '').slice(0, 40)}"`;
    return [...top.querySelectorAll(CONTROLS)]
      .map(shown)
      .filter(isThere)
      .flatMap((element) => {
        const fault = faultOf(element);
        return fault === null ? [] : [`${nameOf(element)}: ${fault}`];
      });
  });

const drawn = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );

/** Checks what is open in every width and theme. */
async function reach(page: Page, state: string, widths: readonly number[] = WIDTHS): Promise<void> {
  /** Each fault with the places where it shows. */
  const faults = new Map<string, string[]>();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await drawn(page);
      for (const fault of await unreachable(page))
        faults.set(fault, [...(faults.get(fault) ?? []), `${width} ${colorScheme}`]);
    }
  }
  expect([state, Object.fromEntries(faults)]).toEqual([state, {}]);
  await page.setViewportSize({ width: 1280, height: 800 });
}

const visit = (hash = '') => openPage(rig.browser, `${rig.served.url}/ui/${hash}`, { expected: [/400 \(/] });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).last().click();

it('of a conversation, and of all that opens in it', async () => {
  const { page, close } = await visit();
  await page.getByText('Ask the models on this machine.').waitFor();
  await reach(page, 'welcome');
  await choose(page, 'far/refuses-400');
  await say(page, 'A failure');
  await choose(page, 'far/good');
  await say(page, `Long ${'words and more words '.repeat(200)}`);
  await say(page, 'Short');
  await press(page, 'Try again');
  await expect.poll(() => answers(page).last().locator('.pager').count()).toBe(1);
  await page.getByLabel('Attach files').setInputFiles([
    {
      name: `${'a-rather-long-name-'.repeat(6)}.log`,
      mimeType: 'text/plain',
      buffer: Buffer.from('word '.repeat(3000)),
    },
    { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('b') },
  ]);
  await expect.poll(() => chips(page).count()).toBe(2);
  await reach(page, 'answers and attachments');
  await press(page, 'More');
  await reach(page, 'menu of an answer');
  await page.keyboard.press('Escape');
  await press(page, 'Edit');
  await reach(page, 'edited message');
  await page.keyboard.press('Escape');
  await press(page, 'What differs');
  await reach(page, 'differences');
  await page.keyboard.press('Escape');
  await press(page, 'As API call');
  await reach(page, 'API call');
  await page.keyboard.press('Escape');
  await press(page, 'Delete this and what follows');
  await page.locator('.taken-out').waitFor();
  await reach(page, 'undo of a deletion');
  await close();
});

it('of the settings of a conversation', async () => {
  const { page, close } = await visit();
  await press(page, 'Settings');
  await reach(page, 'settings');
  await page.getByLabel('System prompt').fill('Answer in rhyme.');
  await page.getByLabel('Keep these as').fill('Poet');
  await press(page, 'Save preset');
  await page.getByLabel('Temperature').fill('0.5');
  await press(page, 'Add a tool');
  await press(page, 'Insert an example');
  await page.getByText('Tools of an MCP server').click();
  await reach(page, 'settings in use');
  await press(page, 'Close settings');
  await reach(page, 'settings in sight');
  await close();
});

it('of columns of two to four models', async () => {
  const { page, close } = await visit();
  for (const columns of [2, 3, 4]) {
    await press(page, 'Compare');
    await expect.poll(() => page.locator('.lane').count()).toBe(columns);
    await reach(page, `${columns} empty columns`);
  }
  await send(page, 'Hello');
  await expect.poll(() => page.locator('.entry.assistant:not(.live)').count()).toBe(4);
  await reach(page, '4 answers');
  await press(page, 'Settings');
  await reach(page, '4 answers with settings');
  await close();
});

it('of the rail, the search and the list of shortcuts', async () => {
  const { page, close } = await visit();
  await importAll(
    page,
    ['one', 'two', 'three', 'four'].map((title, at) => ({
      title: `${title} ${'with a long title '.repeat(at * 3)}`.trim(),
      daysAgo: at * 5,
      said: [{ role: 'user' as const, text: 'words to find' }],
    })),
  );
  await page.getByRole('link', { name: 'one', exact: true }).click();
  await reach(
    page,
    'rail',
    WIDTHS.filter((width) => width > 832),
  );
  await page.getByRole('button', { name: 'Move one to a folder' }).click();
  await reach(
    page,
    'menu of a conversation',
    WIDTHS.filter((width) => width > 832),
  );
  await page.getByRole('menuitem', { name: 'New folder…' }).click();
  await reach(
    page,
    'name of a folder',
    WIDTHS.filter((width) => width > 832),
  );
  await page.keyboard.type('Folder');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('find');
  await reach(page, 'search');
  await page.keyboard.press('Escape');
  await message(page).blur();
  await page.keyboard.press('?');
  await reach(page, 'shortcuts');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Remove one', exact: true }).click();
  await page.setViewportSize({ width: 390, height: 800 });
  await press(page, 'Menu');
  await reach(page, 'menu of a phone', [390, 768]);
  await close();
});

it('of the engine room, the models, the requests and the proofs', async () => {
  const { page, close } = await visit();
  await choose(page, 'hearth-mini');
  await press(page, 'Settings');
  await page.getByLabel('Maximum tokens').fill('8');
  await say(page, 'Hello');
  const look = async (view: string, words: string) => {
    await page.goto(`${rig.served.url}/ui/#/${view}`);
    await page.locator('main').getByText(words).first().waitFor();
  };
  await look('engine', 'hearth-mini');
  await reach(page, 'engine room');

  await look('models', 'From other programs');
  await reach(page, 'models');
  for (const words of ['Details of hearth-mini', 'Settings of hearth-mini'])
    await page.locator('summary', { hasText: words }).click();
  await page.locator('.settings-of-model details:not([open]) > summary').evaluateAll((all) => {
    for (const each of all) (each as HTMLElement).click();
  });
  await page.locator('.setting input[type=number]').first().fill('1');
  await page.locator('.model', { hasText: 'hearth-mini' }).getByRole('button', { name: 'Remove' }).click();
  await page.locator('.question').waitFor();
  await reach(page, 'settings and removal of a model');

  await look('requests', 'hearth-mini');
  await page.locator('.opener').first().click();
  await page.getByText('Request ID').waitFor();
  await reach(page, 'requests');

  await look('proof', 'Trusted key');
  await page.getByLabel('Maximum tokens').fill('8');
  await press(page, 'Ask for a signed answer');
  await page.getByText('What the record says').waitFor();
  await page.locator('.fields-of-record summary').evaluateAll((all) => {
    for (const each of all) (each as HTMLElement).click();
  });
  await reach(page, 'a record');
  await close();
});

it('of the request for a key', async () => {
  const locked = await rig.installation.serve({
    SVC_API_KEY: 'correct horse battery staple',
    ...rig.installation.anotherHome(),
  });
  const { page, close } = await openPage(rig.browser, `${locked.url}/ui/`, { expected: [/401 \(/] });
  await page.getByRole('dialog').waitFor();
  await reach(page, 'key');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Enter a key' }).waitFor();
  await reach(page, 'locked');
  await close();
});
