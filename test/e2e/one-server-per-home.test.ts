/** Two servers of one home would plan the same memory and write the same files. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let first: Served;
const home = () => path.join(installation.folder, 'shared-home');

beforeAll(async () => {
  installation = await Installation.make();
  first = await installation.serve({ SVC_HOME: home() });
});
afterAll(() => installation.remove());

describe('a second server on the same home', () => {
  it('ends with a message that names the holder, and leaves the first one serving', async () => {
    const { code, stdout, stderr } = await installation.run(['serve'], { SVC_HOME: home(), SVC_PORT: '0' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('hearth serve');
    expect((await fetch(`${first.url}/health`)).status).toBe(200);
  });
});

describe('another verb at a port where nobody answers', () => {
  it('names the service that has the home, and its port', async () => {
    const { code, stderr } = await installation.run(['ps'], { SVC_HOME: home(), SVC_PORT: '1' });
    expect(code).toBe(3);
    expect(stderr).toMatch(
      new RegExp(`no server answers at http://127.0.0.1:1; .* hearth serve --port ${first.port}`),
    );
  });
});
