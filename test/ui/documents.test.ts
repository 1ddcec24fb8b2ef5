/** PDF files, previews of HTML, and the comparison of answers. */
import { describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { chips, farRig, lastContent, visitFar } from './page-rig.ts';
import { pdf } from './pdf-file.ts';
import { importAll, live, say } from './talking.ts';

const rig = farRig({ models: ['good', 'script', 'tale'] });

const visit = () => visitFar(rig);

describe('a PDF file', () => {
  it('is sent as the text of its pages, and one without text is refused', async () => {
    const { page, close } = await visit();
    const give = (name: string, buffer: Buffer) =>
      page.getByLabel('Attach files').setInputFiles({ name, mimeType: 'application/pdf', buffer });
    await give('report.pdf', pdf(['Costs rose by nine percent', 'The end']));
    await expect.poll(() => chips(page).count()).toBe(1);
    await chips(page).locator('summary').click();
    expect(await chips(page).locator('pre').textContent()).toBe(
      '[Page 1]\nCosts rose by nine percent\n\n[Page 2]\nThe end',
    );
    await say(page, 'Why?');
    expect(lastContent(rig)).toContain('File: report.pdf\n```\n[Page 1]\nCosts rose');
    await give('scan.pdf', pdf([null]));
    await page.getByText('scan.pdf holds no text').waitFor();
    await give('broken.pdf', Buffer.from('%PDF-1.4 nothing'));
    await page.getByText('broken.pdf cannot be read: it is damaged').waitFor();
    await close();
  });
});

/** `elsewhere`: a server that notes its requests. */
const hostile = (
  elsewhere: string,
): string => `<style>h1 { color: rgb(1, 2, 3) }</style><h1 style="margin: 7px">Shown</h1>
<script>parent.broken = 1; document.title = 'broken'; fetch('${elsewhere}/')</script>
<img src="${elsewhere}/a.png"><img src=x onerror="parent.broken = 1; document.title = 'broken'">
<link rel="preconnect" href="${elsewhere}"><meta http-equiv="refresh" content="0;url=${elsewhere}/">
<iframe src="${elsewhere}/"></iframe><a href="${elsewhere}/" target="_top">away</a>`;

describe('HTML of a model', () => {
  it('is shown on request, in a frame in which nothing runs and into which nothing comes', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, {
      // The policy of the preview refuses what the text asks for, and says so.
      expected: [/Content Security Policy/, /policy: /, /sandboxed/, /request: .*a\.png$/],
    });
    await importAll(page, [
      {
        title: 'HTML',
        said: [
          { role: 'user', text: 'A page' },
          { role: 'assistant', text: `\`\`\`html\n${hostile(rig.upstream.url)}\n\`\`\`` },
        ],
      },
    ]);
    expect(await page.locator('iframe').count()).toBe(0);
    await page.getByRole('button', { name: 'Preview' }).click();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Shown' }).waitFor();
    const [heading] = await frame
      .locator('h1')
      .evaluateAll((all) =>
        all.map((each) => [getComputedStyle(each).color, getComputedStyle(each).marginTop]),
      );
    expect(heading).toEqual(['rgb(1, 2, 3)', '7px']);
    const inside = page.frames().find((each) => each.url().endsWith('preview.html'));
    expect(await inside?.evaluate(() => [document.title, origin, document.scripts.length])).toEqual([
      '',
      'null',
      0,
    ]);
    await frame.getByText('away').click();
    await frame.getByRole('heading', { name: 'Shown' }).waitFor();
    expect(await page.evaluate(() => 'broken' in globalThis)).toBe(false);
    expect(page.url()).toContain(rig.served.url);
    expect(rig.upstream.requests.map(({ path }) => path)).not.toContain('/a.png');
    expect(rig.upstream.requests.map(({ path }) => path)).not.toContain('/');
    await page.getByRole('button', { name: 'Preview' }).click();
    await expect.poll(() => page.locator('iframe').count()).toBe(0);
    await close();
  });
});

describe('two answers to the same', () => {
  it('are compared word by word, from the columns of several models and from a second try', async () => {
    const { page, close } = await visit();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByLabel('Model of column 2').selectOption('far/script');
    const words = ['Once upon a ', 'lake there was a fox.'];
    const chunks = words.map((content) => ({ choices: [{ index: 0, delta: { content } }] }));
    rig.upstream.script = [...chunks, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }]
      .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
      .join('')
      .concat('data: [DONE]\n\n');
    await page.getByLabel('Your message').fill('A tale');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.entry.assistant:not(.live)').count()).toBe(2);
    await expect.poll(() => live(page).count()).toBe(0);
    await page.locator('.lane').nth(1).getByRole('button', { name: 'What differs' }).click();
    const shown = page.getByRole('region', { name: 'Differences' });
    await shown.waitFor();
    expect(await shown.locator('del').allTextContents()).toEqual(['time']);
    expect(await shown.locator('ins').allTextContents()).toEqual(['lake']);
    await page.getByRole('combobox', { name: /^To/ }).selectOption({ index: 0 });
    await page.getByText('The same, character for character.').waitFor();
    // Only answers to the same message are offered.
    await page.keyboard.press('Escape');
    await page.getByLabel('Your message').fill('Another');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.entry.assistant:not(.live)').count()).toBe(4);
    const second = page.locator('.lane').first().locator('.entry.assistant').last();
    await second.getByRole('button', { name: 'What differs' }).click();
    const offered = page.getByRole('combobox', { name: /^To/ }).locator('option');
    await expect.poll(() => offered.count()).toBe(2);
    await close();
  });
});
