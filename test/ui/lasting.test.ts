/** Nothing of the user's is lost: by another tab, a reload, another view, a failure, or a full disk. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { TALE } from '../support/upstream/scripted-upstream.ts';
import { openPage } from './browser.ts';
import { farRig } from './page-rig.ts';
import {
  answers,
  choose,
  importAll,
  items,
  live,
  message,
  reload,
  say,
  send,
  stored,
  storedTexts,
} from './talking.ts';

const rig = farRig({ models: ['tale', 'good', 'refuses-400'], options: ['--dialect', 'vllm'] });
beforeEach(() => {
  rig.upstream.faultOf = () => null;
  rig.upstream.requests.length = 0;
});

const visit = () => openPage(rig.browser, `${rig.served.url}/ui/`);
const prompts = (page: Page) => page.locator('.entry.user .said');

describe('two tabs of one conversation', () => {
  it('show what the other says, and keep all that both said', async () => {
    const { page, tab, close } = await visit();
    await choose(page, 'far/good');
    await say(page, 'to begin with');
    const second = await tab();
    await second.goto(page.url());
    await expect.poll(() => answers(second).count()).toBe(1);

    await say(page, 'from tab one');
    await expect.poll(() => prompts(second).allTextContents()).toEqual(['to begin with', 'from tab one']);
    await say(second, 'from tab two');
    await stored(second);
    await reload(page);
    await expect
      .poll(() => prompts(page).allTextContents())
      .toEqual(['to begin with', 'from tab one', 'from tab two']);
    await expect.poll(() => answers(page).count()).toBe(3);
    await second.close();
    await close();
  });

  it('lose nothing when both write at once, though neither heard of the other', async () => {
    const { page, tab, close } = await visit();
    await choose(page, 'far/good');
    await say(page, 'to begin with');
    const second = await tab();
    // A tab that sleeps, or a browser without channels.
    await second.addInitScript(() => {
      BroadcastChannel.prototype.postMessage = () => undefined;
      BroadcastChannel.prototype.addEventListener = () => undefined;
    });
    await second.goto(page.url());
    await expect.poll(() => answers(second).count()).toBe(1);
    await say(page, 'from tab one');
    await say(second, 'from tab two');
    await stored(second);
    await second.close();
    await reload(page);
    await page.locator('.entry.user .pager').waitFor();
    expect(await page.locator('.entry.user .pager').textContent()).toContain('of 2');
    const texts = await storedTexts(page);
    expect(texts).toContain('from tab one');
    expect(texts).toContain('from tab two');
    await close();
  });

  it('leave a finished answer as it is, on whatever the other one looks', async () => {
    const { page, tab, close } = await visit();
    await choose(page, 'far/tale');
    const second = await tab();
    await second.goto(`${rig.served.url}/ui/`);
    for (const at of [1, 2, 3]) {
      await say(page, `Tell it, ${at}.`);
      await expect
        .poll(async () => (await storedTexts(page)).filter((each) => each === TALE).length)
        .toBe(at);
    }
    await stored(second);
    await reload(page);
    await expect.poll(() => answers(page).locator('.prose').allTextContents()).toEqual([TALE, TALE, TALE]);
    expect(await page.getByText('cut because').count()).toBe(0);
    await second.close();
    await close();
  });

  it('have the same list: what one begins or removes, the other shows', async () => {
    const { page, tab, close } = await visit();
    const second = await tab();
    await second.goto(page.url());
    await second.getByText('Your conversations appear here').waitFor();
    await choose(page, 'far/good');
    await say(page, 'seen by both');
    await expect.poll(() => items(second).count()).toBe(1);
    await items(second).first().hover();
    await second.getByRole('button', { name: 'Remove seen by both' }).click();
    await expect.poll(() => items(page).count()).toBe(0);
    await second.close();
    await close();
  });
});

describe('a reload in the middle of an answer', () => {
  it('keeps what had come, says what happened, and the answer goes on from there', async () => {
    rig.upstream.faultOf = () => ({ after: 20, kind: 'stall' });
    const { page, close } = await visit();
    await choose(page, 'far/tale');
    await send(page, 'Tell it.');
    await expect.poll(() => live(page).textContent()).toContain('word19');
    await expect.poll(async () => (await storedTexts(page)).join()).toContain('word19');
    await reload(page);
    await expect.poll(() => answers(page).textContent()).toContain('word19');
    expect(await answers(page).textContent()).toContain('cut because the page was closed or reloaded');

    rig.upstream.faultOf = () => null;
    await page.getByRole('button', { name: 'Continue this answer' }).click();
    await expect.poll(() => answers(page).locator('.prose').textContent()).toBe(TALE);
    const asked = rig.upstream.requests.filter(({ path }) => path === '/v1/chat/completions');
    expect(asked.at(-1)?.body.continue_final_message).toBe(true);
    // The shorter one is still there.
    expect(await answers(page).locator('.pager').textContent()).toContain('2 of 2');
    await close();
  });

  it('is told from an answer that another tab still writes', async () => {
    let resume = (): void => undefined;
    const once = new Promise<void>((resolve) => void (resume = resolve));
    rig.upstream.faultOf = () => ({ after: 20, kind: 'reset', once });
    const { page, tab, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, {
      expected: [/ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET/],
    });
    await choose(page, 'far/tale');
    await send(page, 'Tell it.');
    await expect.poll(async () => (await storedTexts(page)).join()).toContain('word19');
    const second = await tab();
    await second.goto(page.url());
    await second.getByText('Being written in another tab.').waitFor();
    resume();
    await answers(page).locator('.failure').waitFor();
    await expect.poll(() => second.getByText('Being written in another tab.').count()).toBe(0);
    await second.close();
    await close();
  });
});

describe('a draft', () => {
  it('stays with its conversation over other views, other conversations and a reload', async () => {
    const { page, close } = await visit();
    await importAll(page, [
      { title: 'first', said: [{ role: 'user', text: 'one' }] },
      { title: 'second', said: [{ role: 'user', text: 'two' }] },
    ]);
    const open = async (title: string, prompt: string) => {
      await page.getByRole('link', { name: title, exact: true }).click();
      await expect.poll(() => prompts(page).allTextContents()).toEqual([prompt]);
    };
    await open('first', 'one');
    await message(page).fill('half a thought');
    await page.locator('.places a[href="#/models"]').click();
    await page.locator('main[data-view="models"] h1').waitFor();
    await page.locator('.places a[href="#/chat"]').click();
    expect(await message(page).inputValue()).toBe('half a thought');
    await open('second', 'two');
    await expect.poll(() => message(page).inputValue()).toBe('');
    await open('first', 'one');
    await expect.poll(() => message(page).inputValue()).toBe('half a thought');
    await reload(page);
    await expect.poll(() => message(page).inputValue()).toBe('half a thought');
    await close();
  });
});

describe('a failed answer', () => {
  it('is not sent to the model as something that it said', async () => {
    const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, { expected: [/400 \(/] });
    await choose(page, 'far/refuses-400');
    await say(page, 'x');
    await answers(page).locator('.failure').waitFor();
    await choose(page, 'far/good');
    await say(page, 'second');
    const asked = rig.upstream.requests.filter(({ path }) => path === '/v1/chat/completions');
    const { messages } = asked.at(-1)?.body ?? {};
    expect(messages.map(({ role }: { role: string }) => role)).not.toContain('assistant');
    expect(JSON.stringify(messages)).toMatch(/x.*second/);
    await close();
  });

  it('says that something was kept only where something had arrived', async () => {
    const { page, close } = await visit();
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({ status: 200, contentType: 'text/event-stream', body: ': hello\n\n' }),
    );
    await choose(page, 'far/good');
    await say(page, 'x');
    const failure = await answers(page).locator('.failure').textContent();
    expect(failure).toContain('before anything arrived');
    expect(failure).not.toContain('kept');
    await close();
  });
});

describe('the storage of the browser', () => {
  it('says that it is full, with the way to keep what is there', async () => {
    const { page, close } = await visit();
    await page.evaluate(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
    });
    await choose(page, 'far/good');
    await say(page, 'more than fits');
    await page.getByText("This browser's storage for the page is full").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export conversations' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^hearth-conversations-\d{4}-\d\d-\d\d\.json$/);
    await close();
  });
});

describe('the address', () => {
  it('leads to a conversation, and the last one is open again without it', async () => {
    const { page, close } = await visit();
    await importAll(page, [
      { title: 'first', said: [{ role: 'user', text: 'one' }] },
      { title: 'second', said: [{ role: 'user', text: 'two' }] },
    ]);
    await page.getByRole('link', { name: 'second', exact: true }).click();
    await expect.poll(() => prompts(page).allTextContents()).toEqual(['two']);
    const address = page.url();
    await reload(page);
    await expect.poll(() => prompts(page).allTextContents()).toEqual(['two']);
    await page.getByRole('link', { name: 'first', exact: true }).click();
    await expect.poll(() => prompts(page).allTextContents()).toEqual(['one']);
    await page.goBack();
    await expect.poll(() => prompts(page).allTextContents()).toEqual(['two']);
    await page.goto('about:blank');
    await page.goto(`${rig.served.url}/ui/`);
    await expect.poll(() => prompts(page).allTextContents()).toEqual(['two']);
    expect(page.url()).toBe(address);
    await close();
  });
});
