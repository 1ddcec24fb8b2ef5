/** Other pages in the same browser: no change of the service may come from them, by a form, a script or a name of their own. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Route, routes } from '../../src/wire/routes.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { browserOptions, openPage } from './browser.ts';

let installation: Installation;
let served: Served;
let browser: Browser;
let site: Server;
/** The same site under a name, and the service under that name: what rebinding makes of an address. */
let foreign: string;
let rebound: string;
/** Paths that came to the site. */
const asked: string[] = [];
beforeAll(async () => {
  [installation, browser] = await Promise.all([
    Installation.make({ trained: false }),
    chromium.launch(browserOptions(['--host-resolver-rules=MAP evil.example 127.0.0.1'])),
  ]);
  served = await installation.serve({ SVC_NUM_THREADS: '1' });
  site = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>x</title>');
  });
  await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
  foreign = `http://evil.example:${(site.address() as AddressInfo).port}/`;
  rebound = `http://evil.example:${served.port}`;
});
afterAll(async () => {
  await browser.close();
  site.close();
  await installation.remove();
});

const changing = Object.values<Route>(routes).filter(
  ({ admin, method }) => admin !== undefined && method === 'POST',
);
const BODY = {
  model: 'hearth-mini',
  alias: 'stolen',
  settings: { temperature: '1.9' },
  path: '/etc/passwd',
  ref: 'hf:acme/x',
};

describe('a page of another site', () => {
  it('changes nothing and reads nothing, whatever it sends', async () => {
    const paths = [...changing.map(({ path }) => path), '/svc/page-token', '/svc/unload'];
    expect(paths.length).toBeGreaterThan(8);
    const before = await library();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(foreign);
    const outcomes = await page.evaluate(
      async ({ url, paths: targets, body }) => {
        const tries: Promise<string>[] = [];
        for (const path of targets) {
          for (const type of ['application/json', 'text/plain']) {
            for (const mode of ['cors', 'no-cors'] as const) {
              const init = { method: 'POST', mode, body, headers: { 'content-type': type } };
              tries.push(
                fetch(url + path, init).then(
                  (response) => `${response.type} ${response.status}`,
                  () => 'blocked',
                ),
              );
            }
          }
          const form = document.createElement('form');
          form.method = 'post';
          form.enctype = 'text/plain';
          form.action = url + path;
          const frame = document.createElement('iframe');
          frame.name = path;
          form.target = path;
          const field = document.createElement('input');
          [field.name, field.value] = [body.slice(0, -1), '}'];
          form.append(field);
          document.body.append(frame, form);
          form.submit();
        }
        return Promise.all(tries);
      },
      { url: served.url, paths, body: JSON.stringify(BODY) },
    );
    // What is sent without asking first is answered, but not to the page.
    expect([...new Set(outcomes)].toSorted()).toEqual(['blocked', 'opaque 0']);
    await page.waitForLoadState('networkidle');
    expect(await library()).toEqual(before);
    await context.close();
  });

  it('does not become this page by giving the address its own name', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const response = await page.goto(`${rebound}/ui/`);
    expect(response?.status()).toBe(403);
    expect(await response?.text()).toContain('forbidden_host');
    const statuses = await page.evaluate(
      async ({ paths, body }) => {
        const all = paths.map(async (path) => {
          const headers = { 'content-type': 'application/json' };
          return (await fetch(path, { method: 'POST', body, headers })).status;
        });
        return [...new Set(await Promise.all(all))];
      },
      { paths: [...changing.map(({ path }) => path), '/svc/page-token'], body: JSON.stringify(BODY) },
    );
    expect(statuses).toEqual([403]);
    await context.close();
  });
});

describe('the policy of the page', () => {
  it('stops what a text would do if it ever became markup', async () => {
    const { page, close } = await openPage(browser, `${served.url}/ui/`, {
      expected: [/policy: /, /Content Security Policy/, /TrustedHTML|Trusted Type/, /a\.png$/],
    });
    const results = await page.evaluate(async (elsewhere) => {
      const refused: string[] = [];
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
        refused.push(effectiveDirective),
      );
      const attempt = (act: () => void): boolean => {
        try {
          act();
          return true;
        } catch {
          return false;
        }
      };
      const markup = attempt(() => {
        document.body.innerHTML += '<p>x</p>';
      });
      const image = document.createElement('img');
      image.src = `${elsewhere}a.png`;
      document.body.append(image);
      const style = document.createElement('style');
      style.textContent = 'body { display: none }';
      document.head.append(style);
      const fetched = await fetch(elsewhere).then(
        () => true,
        () => false,
      );
      Reflect.set(window, 'refused', refused);
      return { markup, fetched };
    }, foreign);
    expect(results).toEqual({ markup: false, fetched: false });
    await expect
      .poll(() => page.evaluate(() => Reflect.get(window, 'refused') as string[]))
      .toEqual(
        expect.arrayContaining(['connect-src', 'img-src', 'require-trusted-types-for', 'style-src-elem']),
      );
    expect(asked).not.toContain('/a.png');
    await close();
  });
});

async function library(): Promise<unknown> {
  const { body } = await served.client.get('/svc/models');
  return body;
}
