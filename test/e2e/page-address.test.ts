/** The address of the page: the token in the home is that of the running service, and nobody else can read it. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let served: Served;
beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve();
});
afterAll(() => installation.remove());

it('has the token that permits changes', async () => {
  const { code, stdout } = await installation.run(['page'], { SVC_PORT: served.port });
  expect(code).toBe(0);
  const [, token = ''] = /^http:\/\/127\.0\.0\.1:\d+\/ui\/#token=([\w-]{43})\n$/.exec(stdout) ?? [];
  const file = path.join(installation.home, 'page-token');
  expect(await readFile(file, 'utf8')).toBe(`${token}\n`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const alias = (headers: Record<string, string>) =>
    served.client.post('/svc/models/alias', { model: 'hearth-mini', alias: 'mini' }, headers);
  expect((await alias({})).body.code).toBe('page_token_required');
  expect((await alias({ 'x-svc-page-token': token })).body).toEqual({ model: 'hearth-mini' });
});

it('is told of no service that does not run', async () => {
  const home = installation.anotherHome();
  expect((await installation.run(['page'], { ...home, SVC_PORT: '1' })).code).toBe(3);
});
