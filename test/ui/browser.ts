/**
 * A browser over the built page. Whatever a test does, the page must keep what holds always: no error on the console, no
 * violation of its content security policy, no request to anywhere but the service, and no dialog of a script.
 */
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
  type Page,
} from 'playwright-core';
import { expect } from 'vitest';
import { deferred } from '../../src/lib/base/deferred.ts';

export interface Guarded {
  readonly page: Page;
  /** A second tab of the same browser. */
  tab(): Promise<Page>;
  /** Fails the test for what the page did wrong so far, and closes it. */
  close(): Promise<void>;
}

export const startBrowser = (): Promise<Browser> => chromium.launch(browserOptions());

export function browserOptions(args: readonly string[] = []): LaunchOptions {
  const executablePath = process.env['CHROMIUM'];
  if (executablePath === undefined) throw new Error('CHROMIUM names no browser; run: npm run test:ui');
  // In a container Chromium cannot build its own sandbox as root; the pages are ours.
  return {
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb', ...args],
  };
}

/** Opens a view in a fresh profile. `expected`: what the test itself causes of what is wrong otherwise. */
export async function openPage(
  browser: Browser,
  address: string,
  { expected = [], ...options }: BrowserContextOptions & { readonly expected?: readonly RegExp[] } = {},
): Promise<Guarded> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const wrong: string[] = [];
  const note = (what: string): void => {
    if (!expected.some((pattern) => pattern.test(what))) wrong.push(what);
  };
  const { origin } = new URL(address);
  page.on('console', (message) => {
    if (message.type() === 'error') note(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    note(`dialog: ${dialog.type()} ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    const isOwn = url.origin === origin || ['blob:', 'data:', 'about:'].includes(url.protocol);
    if (!isOwn || url.protocol === 'data:') note(`request: ${request.url()}`);
  });
  let isTest = false;
  context.on('page', (opened) => {
    if (opened !== page && !isTest) wrong.push(`window: ${opened.url()}`);
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      // oxlint-disable-next-line no-console -- this is how the test hears of it
      console.error(`policy: ${violatedDirective} ${blockedURI}`);
    });
  });
  await page.goto(address);
  return {
    page,
    tab: async () => {
      isTest = true;
      const opened = await context.newPage();
      isTest = false;
      return opened;
    },
    close: async () => {
      await context.close();
      expect(wrong).toEqual([]);
    },
  };
}

/** Requests to these addresses wait until `release`; with a status, that is then the answer. */
export async function holdBack(page: Page, addresses: string, status?: number) {
  const asked = deferred<undefined>();
  const released = deferred<undefined>();
  await page.route(addresses, async (route) => {
    asked.resolve(undefined);
    await released.promise;
    await (status === undefined ? route.continue() : route.fulfill({ status, json: {} }));
  });
  return { asked: asked.promise, release: () => released.resolve(undefined) };
}
