/** Tools of an MCP server: found, offered to the model, called by the page once its user allows it, and by nobody else. */
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { startMcpServer } from '../support/http/mcp-server.ts';
import { holdBack, openPage } from './browser.ts';
import { farRig, lastContent } from './page-rig.ts';
import { answers, choose, live, send } from './talking.ts';

// The service must know its address when it starts.
const server = await startMcpServer();
const stranger = await startMcpServer();
afterAll(() => {
  server.close();
  stranger.close();
});

const rig = farRig({ models: ['script'], settings: { SVC_PAGE_CONNECT: server.origin } });

const stream = (...chunks: readonly object[]): string =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + 'data: [DONE]\n\n';
const chunk = (delta: object, finish_reason: string | null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const calling = (id: string, args: object): string => {
  const made = {
    index: 0,
    id,
    type: 'function',
    function: { name: 'math_add', arguments: JSON.stringify(args) },
  };
  return stream(chunk({ tool_calls: [made] }, null), chunk({}, 'tool_calls'));
};
const saying = (content: string): string => stream(chunk({ content }, null), chunk({}, 'stop'));

const calls = (): number => server.methods.filter((method) => method === 'tools/call').length;

/** What the model calls next; it speaks once it has the result. */
let next = '';
const said = (): string => (lastAsked().messages.at(-1)?.role === 'tool' ? saying('There you are.') : next);
const lastAsked = () => rig.upstream.requests.findLast(({ path }) => path === '/v1/chat/completions')?.body;

async function ask(page: Page, id: string, args: object): Promise<void> {
  next = calling(id, args);
  await expect.poll(() => live(page).count()).toBe(0);
  const before = await page.locator('.call').count();
  await send(page, 'Add them.');
  await expect.poll(() => page.locator('.call').count()).toBe(before + 1);
}

it('are found, shown before they are called, called once or always, and never without the word of their user', async () => {
  const { page, close } = await openPage(rig.browser, `${rig.served.url}/ui/`, {
    expected: [
      new RegExp(`^request: ${server.origin}/mcp`),
      new RegExp(stranger.origin),
      /policy: connect-src/,
      /404 \(/,
    ],
  });
  Object.defineProperty(rig.upstream, 'script', { get: said });
  await choose(page, 'far/script');
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByText('Tools of an MCP server').click();
  const address = page.getByLabel('Address of the server');
  await address.fill(stranger.address);
  await page.getByRole('button', { name: 'Find its tools' }).click();
  await page.getByText(`SVC_PAGE_CONNECT=${stranger.origin}`).waitFor();
  expect(stranger.methods).toEqual([]);

  // Tools of one server are not offered under the address of another.
  await address.fill(server.address);
  const listing = await holdBack(page, server.address);
  await page.getByRole('button', { name: 'Find its tools' }).click();
  await listing.asked;
  await address.fill(stranger.address);
  listing.release();
  await expect.poll(() => server.methods).toContain('tools/list');
  await page.getByRole('button', { name: 'Find its tools' }).waitFor();
  expect(await page.getByRole('checkbox', { name: /math_add/ }).count()).toBe(0);
  await address.fill(server.address);
  await page.getByRole('checkbox', { name: /math_add/ }).check();
  await ask(page, 'one', { a: 1, b: 2 });
  expect(lastAsked().tools[0].function).toMatchObject({
    name: 'math_add',
    parameters: { required: ['a', 'b'] },
  });
  const card = page.locator('.call').last();
  expect(await card.textContent()).toContain(`would call ${server.address}`);
  expect(await card.locator('pre').textContent()).toContain('"a": 1');
  expect(calls()).toBe(0);
  await card.getByRole('button', { name: 'Run math.add' }).click();
  await expect.poll(() => answers(page).last().textContent()).toContain('There you are.');
  expect(lastContent(rig)).toBe('the sum is 3');
  expect(calls()).toBe(1);

  // It was allowed once; the next time its user is asked again.
  await ask(page, 'two', { a: 2, b: 2 });
  await card.getByRole('button', { name: 'Always in this conversation' }).waitFor();
  expect(calls()).toBe(1);
  // A server that was started anew is met anew.
  server.forget();
  await card.getByRole('button', { name: 'Always in this conversation' }).click();
  await expect.poll(() => lastContent(rig)).toBe('the sum is 4');

  await ask(page, 'three', { a: 2, b: 13 });
  await expect.poll(() => lastContent(rig)).toContain('The tool failed: it does not like 13');
  await expect.poll(() => live(page).count()).toBe(0);

  // Another conversation asks for itself.
  await page.getByRole('button', { name: 'New conversation' }).first().click();
  await page.getByRole('button', { name: /^Reuse 1 tool/ }).click();
  const before = calls();
  await ask(page, 'four', { a: 5, b: 5 });
  await card.getByRole('button', { name: 'Run math.add' }).waitFor();
  expect(calls()).toBe(before);

  // A result that arrives in another conversation belongs to the conversation of its call.
  const result = await holdBack(page, server.address);
  await card.getByRole('button', { name: 'Run math.add' }).click();
  await result.asked;
  await page.getByRole('button', { name: 'New conversation' }).first().click();
  await expect.poll(() => page.locator('.entry').count()).toBe(0);
  result.release();
  await expect.poll(() => lastContent(rig)).toBe('the sum is 10');
  expect(calls()).toBe(before + 1);
  expect(await page.locator('.entry').count()).toBe(0);
  await page.locator('.conversations .item a').first().click();
  await expect.poll(() => answers(page).last().textContent()).toContain('There you are.');
  await close();
});
