/** What a model says, as it is shown: its code, its formulas, its characters, and what an answer waits for. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { deferred } from '../../src/lib/base/deferred.ts';
import { openPage } from './browser.ts';
import { farRig } from './page-rig.ts';
import { answers, choose, importAll, message, say, send } from './talking.ts';

const rig = farRig({ models: ['script', 'tale'], settings: { SVC_NUM_PARALLEL: '1', SVC_RECORD: 'text' } });
beforeEach(() => {
  rig.upstream.script = '';
});

const visit = () => openPage(rig.browser, `${rig.served.url}/ui/`);

/** The page with an answer of exactly this text. */
async function shown(page: Page, text: string) {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  rig.upstream.script = `${chunk({ content: text }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`;
  await choose(page, 'far/script');
  await say(page, 'Say it.');
  return answers(page).locator('.prose');
}

describe('formulas', () => {
  it('are drawn, and nothing of them is lost before that or where they cannot be', async () => {
    const { page, close } = await visit();
    const prose = await shown(
      page,
      String.raw`Inline \(a^2+b^2=c^2\), money $5 and $6, and $x_1$.` +
        '\n\n' +
        String.raw`\[E=mc^2\]` +
        '\n\n' +
        String.raw`$$\int_0^1 f(x)\,dx$$` +
        '\n\n' +
        String.raw`Not TeX: C:\(temp and \, alone, \frac{ \(\nosuchmacro{x}\).`,
    );
    await expect.poll(() => prose.locator('math').count()).toBe(4);
    await expect.poll(() => prose.locator('.formula.displayed').count()).toBe(2);
    const text = (await prose.textContent()) ?? '';
    expect(text).toContain('money $5 and $6');
    expect(text).toContain(String.raw`C:\(temp and \, alone, \frac{ \(\nosuchmacro{x}\).`);
    // Neither styles nor addresses come from a formula.
    const attributes = await prose
      .locator('math *')
      .evaluateAll((all) => all.flatMap((element) => element.getAttributeNames()));
    expect(attributes.filter((name) => /^(style|href|src|on|class)/.test(name))).toEqual([]);
    await close();
  });

  it('have no power over the page', async () => {
    const { page, close } = await visit();
    const prose = await shown(
      page,
      [
        String.raw`\(\href{javascript:window.broken=1}{x}\)`,
        String.raw`\(\includegraphics{https://evil.example/a.png}\)`,
        String.raw`\(\htmlStyle{background:url(https://evil.example)}{x}\)`,
        String.raw`\(\def\a{\a\a}\a\)`,
        String.raw`\(\rule{1000em}{1000em}\)`,
        String.raw`\(\fcolorbox{red}{blue}{x}\)`,
        `\\(${'{'.repeat(400)}x${'}'.repeat(400)}\\)`,
        '$x$',
      ].join('\n\n'),
    );
    await prose.locator('math').first().waitFor();
    expect(await page.evaluate(() => Reflect.get(window, 'broken') as unknown)).toBeUndefined();
    expect(await prose.locator('a, img').count()).toBe(0);
    await close();
  });
});

describe('characters', () => {
  it('of entities are read, whether they have a name or a number, but not in code', async () => {
    const { page, close } = await visit();
    const prose = await shown(page, '&copy; &#169; &amp; &lt;b&gt; &unknown; `&copy;` \\* and a\\_b');
    expect(await prose.textContent()).toBe('© © & <b> &unknown; &copy; * and a_b');
    await close();
  });
});

describe('code', () => {
  it('has colours, is wrapped and copied', async () => {
    const { page, close } = await visit();
    const prose = await shown(
      page,
      '```python\ndef add(a, b):\n    return a + b  # sum\n```\n\n```nosuch\nx\n```',
    );
    await prose.locator('.hljs-keyword').first().waitFor();
    expect(await prose.locator('code').first().textContent()).toBe('def add(a, b):\n    return a + b  # sum');
    const colours = await prose
      .locator('.hljs-keyword, .hljs-comment')
      .evaluateAll((all) => new Set(all.map((element) => getComputedStyle(element).color)).size);
    expect(colours).toBe(2);
    await prose.getByRole('button', { name: 'Wrap long lines' }).first().click();
    await expect.poll(() => prose.locator('.code.wrapped').count()).toBe(1);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    // The word is there for a moment only, so the test waits for it before the click.
    const said = prose.getByText('Copied').waitFor();
    await prose.getByRole('button', { name: 'Copy' }).first().click();
    await said;
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('return a + b');
    await close();
  });
});

describe('waiting', () => {
  it('is told in words: what loads, who is ahead, and how much has been read', async () => {
    const { page, close } = await visit();
    await choose(page, 'hearth-mini');
    // What the service says within a frame of the screen cannot be seen; here it says one thing at a time.
    await page.evaluate(() => {
      const real = fetch;
      const said = new ReadableStream({
        start: (controller) => {
          const encoder = new TextEncoder();
          Reflect.set(window, 'feed', (text: string) => controller.enqueue(encoder.encode(text)));
        },
      });
      window.fetch = (path, init) =>
        String(path).includes('/chat/completions') ? Promise.resolve(new Response(said)) : real(path, init);
    });
    const feed = (text: string) =>
      page.evaluate((frame) => (Reflect.get(window, 'feed') as (text: string) => void)(frame), `${text}\n\n`);
    const words = () => page.locator('.waiting').textContent();
    await send(page, 'Hello');
    await expect.poll(words).toBe('Waiting for the answer…');
    await feed(': queued 1: loading model hearth-mini');
    await expect.poll(words).toBe('Loading hearth-mini…');
    await feed(': queued 3: waiting for a slot of model hearth-mini');
    await expect.poll(words).toBe('In the queue: 2 ahead of you');
    const progress = { total: 1000, cache: 200, processed: 600, time_ms: 4000 };
    const chunk = { choices: [], model: 'hearth-mini', prompt_progress: progress };
    await feed(`data: ${JSON.stringify(chunk)}`);
    await expect.poll(words).toBe('Processing the prompt, 60% of 1,000 tokens (4.0 s left)');
    await page.getByRole('progressbar').waitFor();
    await close();
  });
});

describe('a model', () => {
  it('is compared with another one only once it is known which there are', async () => {
    const { page, close } = await visit();
    const known = deferred<void>();
    await page.route('**/v1/models', async (route) => {
      await known.promise;
      await route.continue();
    });
    await page.reload();
    const compare = page.getByRole('button', { name: 'Compare', exact: true });
    await compare.waitFor();
    expect(await compare.isDisabled()).toBe(true);
    known.resolve();
    await compare.click();
    expect(await page.getByLabel('Model of column 2').inputValue()).toMatch(/^far\//);
    await close();
  });

  it('that was meant by default is named by its own name', async () => {
    const { page, close } = await visit();
    await choose(page, 'default');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    // Not the same one under another name.
    expect(await page.getByLabel('Model of column 2').inputValue()).toMatch(/^far\//);
    await page.getByRole('button', { name: /^Remove far/ }).click();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('Maximum tokens').fill('4');
    await say(page, 'Hello');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const { readFile } = await import('node:fs/promises');
    expect(await readFile(await download.path(), 'utf8')).toContain('"model": "hearth-mini"');
    await close();
  });
});

describe('who types', () => {
  it('sees that text is recorded, in the chat and beside proofs', async () => {
    const { page, close } = await visit();
    await page.getByText('are being recorded until').waitFor();
    await page.goto(`${rig.served.url}/ui/#/proof`);
    await page.getByText('are being recorded until').waitFor();
    await close();
  });

  it('sees how much of the window is used before sending', async () => {
    const { page, close } = await visit();
    await importAll(page, [{ title: 'x', said: [{ role: 'user', text: 'one' }] }]);
    await choose(page, 'far/tale');
    await message(page).fill('word '.repeat(100));
    await expect.poll(() => page.locator('.gauge').textContent()).toMatch(/^about 1\d\d of 4,096 tokens/);
    await message(page).fill('word '.repeat(5000));
    await expect.poll(() => page.locator('.gauge').textContent()).toContain('too long');
    await close();
  });
});
