/** Two servers of one home would plan the same memory and write the same files. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Settings } from '../support/process/hearth.ts';
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

describe('a verb that reaches the service of another home', () => {
  const asked =
    (...args: string[]) =>
    (settings: Settings) =>
      installation.run(args, { SVC_PORT: first.port, ...settings });
  const run = asked('run', 'hearth-mini', '--max-tokens', '1', 'Hello');

  it.each([
    ['run', run],
    ['embed', asked('embed', 'Hello')],
    ['launch', asked('launch', 'zed', '--print')],
  ])('warns once: %s', async (_, ask) => {
    const { code, stderr } = await ask(installation.anotherHome());
    expect(code).toBe(0);
    expect(
      stderr.match(/another Hearth \(instance svc-\w+\), not the service of .* gets what you send/g),
    ).toHaveLength(1);
    expect(stderr).toContain('hearth serve --port PORT');
  });

  it('names the port of its own service', async () => {
    const other = installation.anotherHome();
    const own = await installation.serve(other);
    expect((await run(other)).stderr).toContain(`set SVC_HOST=127.0.0.1 SVC_PORT=${own.port}`);
    expect((await run({ ...other, SVC_PORT: own.port })).stderr).not.toContain('another');
  });

  it('is silent at the service of its own home', async () => {
    expect((await run({ SVC_HOME: home() })).stderr).not.toContain('another');
  });
});
