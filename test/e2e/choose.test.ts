/** The verbs that help to choose a model, against a hub on loopback. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sendJson, startFakeHub } from '../support/hub/fake-hub.ts';
import { hearth } from '../support/process/hearth.ts';
import { chatBytes, temporaryFolder, writeChat } from '../support/temp-home.ts';

async function withHub(files: Parameters<typeof startFakeHub>[0] = {}) {
  const hub = await startFakeHub(files);
  const home = await temporaryFolder();
  const env = { SVC_HOME: join(home, 'svc'), HOME: home, HF_ENDPOINT: hub.endpoint };
  return { hub, home, env };
}

it('search shows what the hub has for some words, and nothing that could steer a terminal', async () => {
  const { hub, env } = await withHub();
  let asked = '';
  let results: unknown = [{ id: 'a/B-GGUF', downloads: 7, likes: 1, gated: 'manual', tags: ['gguf'] }];
  hub.onHub = (_request, response, url) => {
    asked = url.pathname + url.search;
    sendJson(response, results);
    return true;
  };
  const found = await hearth(['search', 'small', 'llama', '--json'], env);
  expect(JSON.parse(found.stdout)).toEqual([{ repo: 'a/B-GGUF', downloads: 7, likes: 1, gated: true }]);
  expect(asked).toMatch(/^\/api\/models\?search=small\+llama&filter=gguf&/);
  results = [{ id: 'a/\u001b[2J' }];
  expect(await hearth(['search', 'x'], env)).toMatchObject({ code: 1, stdout: '' });
  results = [];
  expect((await hearth(['search', 'x'], env)).stderr).toContain('no GGUF models for "x"');
});

it('search and fit say at once that they are offline', async () => {
  const { hub, env } = await withHub();
  for (const verb of [
    ['search', 'llama'],
    ['fit', 'Some/Model-GGUF'],
  ]) {
    const outcome = await hearth(verb, { ...env, HF_HUB_OFFLINE: '1' });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain('Offline mode is on');
  }
  expect(hub.seen).toEqual([]);
});

it('fit lists the quants of a repository with their sizes, and advises one', async () => {
  const { env } = await withHub({
    'Tiny-Q8_0.gguf': chatBytes(8),
    'Tiny-Q4_K_M.gguf': chatBytes(4),
    'readme.md': Buffer.from('no model'),
  });
  const { stdout } = await hearth(['fit', 'Some/Model-GGUF', '--json'], env);
  expect(JSON.parse(stdout)).toMatchObject({
    repo: 'Some/Model-GGUF',
    advised: 'Q4_K_M',
    quants: expect.arrayContaining([
      expect.objectContaining({ label: 'Q8_0', sizeBytes: chatBytes(8).length, fits: true }),
    ]),
  });
  expect((await hearth(['fit', 'Some/Model-GGUF'], env)).stderr).toContain(
    'hearth pull Some/Model-GGUF:Q4_K_M',
  );
});

it('fit shows the windows of an installed model, and that a set one wins', async () => {
  const { home, env } = await withHub();
  const imported = await hearth(['import', await writeChat(home), '--id', 'tiny', '--no-probe'], env);
  expect(imported.stderr).toContain('tiny is installed');
  const fit = async () => JSON.parse((await hearth(['fit', 'tiny', '--json'], env)).stdout) as FitReport;
  const before = await fit();
  expect(before.load).toMatchObject({ numCtx: before.trainedCtx, slots: 8 });
  expect(before.windows.at(-1)).toMatchObject({ numCtx: before.trainedCtx, fits: true });
  expect(before.mostTokensPerS).toBeCloseTo(before.bandwidth.bytesPerS / before.weightsBytes);
  await hearth(['set', 'tiny', 'num_ctx=64'], env);
  const { load, windows } = await fit();
  expect(load?.numCtx).toBe(64);
  expect(windows.find(({ numCtx }) => numCtx === 64)).toMatchObject({ slots: load?.slots, fits: true });
});

interface FitReport {
  readonly trainedCtx: number;
  readonly weightsBytes: number;
  readonly load: { readonly numCtx: number; readonly slots: number } | null;
  readonly windows: readonly { readonly numCtx: number; readonly slots: number; readonly fits: boolean }[];
  readonly bandwidth: { readonly bytesPerS: number };
  readonly mostTokensPerS: number;
}

it('a name of another program is answered with a reference that can be pulled', async () => {
  const { hub, env } = await withHub();
  const known = await hearth(['pull', 'llama3.2:3b'], env);
  expect(known.code).toBe(2);
  expect(known.stderr).toContain('hearth pull bartowski/Llama-3.2-3B-Instruct-GGUF');
  expect((await hearth(['fit', 'nobody-knows'], env)).code).toBe(4);
  expect((await hearth(['pull', 'nobody-knows'], env)).stderr).toContain('hearth search nobody-knows');
  expect(hub.seen).toEqual([]);
});

it('bench measures through a service of its own and draws a plot', async () => {
  const { home, env } = await withHub();
  const svg = join(home, 'plot.svg');
  const outcome = await hearth(['bench', 'hearth-mini', '--json', '--svg', svg], {
    ...env,
    SVC_PORT: '1',
    SVC_NUM_THREADS: '1',
  });
  expect(outcome.stderr).not.toContain('hearth:');
  const report = JSON.parse(outcome.stdout) as { decode: { streams: number }[]; embeddingsPerS: number };
  expect(report).toMatchObject({ model: 'hearth-mini', service: 'private', numCtx: 1_024 });
  expect(report.decode.map(({ streams }) => streams)).toEqual([1, 2, 4, 8]);
  expect(report.embeddingsPerS).toBeGreaterThan(0);
  expect(await readFile(svg, 'utf8')).toContain('8 streams');
});
