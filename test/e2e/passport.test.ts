/** hearth show --passport after the verbs that find out what it says. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../support/process/installation.ts';
import { modelSignature, newSigner } from '../support/signatures/signed.ts';

let installation: Installation;
let weights: Buffer;
const signer = newSigner();
const hearth = (...args: string[]) => installation.run(args);
const inFolder = (...names: string[]) => path.join(installation.folder, ...names);
const passport = async (id: string) => JSON.parse((await hearth('show', id, '--passport', '--json')).stdout);

beforeAll(async () => {
  installation = await Installation.make();
  weights = await readFile(inFolder('models', 'hearth-mini', 'model.gguf'));
  for (const name of ['signed', 'bare']) {
    await mkdir(inFolder(name));
    await writeFile(inFolder(name, 'm.gguf'), weights);
  }
  await writeFile(inFolder('signed', 'model.sig'), modelSignature(signer, { 'm.gguf': weights }));
  await mkdir(inFolder('home'));
  await writeFile(inFolder('team.pem'), signer.pem);
  await writeFile(
    inFolder('home', 'config.toml'),
    `signatures = "enforce"\nsigners = [${JSON.stringify(inFolder('team.pem'))}]\n`,
  );
});
afterAll(() => installation.remove());

describe('hearth show --passport', () => {
  it('tells origin, digests, signature, template and formats of a model', async () => {
    const refused = await hearth('import', inFolder('bare', 'm.gguf'), '--id', 'bare', '--no-probe');
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'hearth: Model "bare" is not installed, because SVC_SIGNATURES is enforce and it has no signature; choose a signed model, or install it with SVC_SIGNATURES=warn.\n',
    ]);
    const { code, stderr } = await hearth('import', inFolder('signed', 'm.gguf'), '--id', 'm', '--no-probe');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^m is signed by the key [0-9a-f]{16}\.$/m)]);
    const told = await passport('m');
    expect(told).toMatchObject({
      object: 'svc.passport',
      model: 'm',
      origin: { type: 'file', ref: inFolder('signed', 'm.gguf') },
      files: [
        { role: 'model', sha256: createHash('sha256').update(weights).digest('hex'), is_computed: true },
      ],
      signatures: { state: 'trusted', files: [{ name: 'm.gguf', signature: 'model.sig' }] },
      template: { source: 'file', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      tool_format: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      check: null,
      eval: null,
    });
    const { stdout } = await hearth('show', 'm', '--passport');
    expect(stdout).toMatch(/^signature +it is signed by the key [0-9a-f]{16}; checked \d{4}-/m);
    expect(stdout).toMatch(/^check +not yet: hearth check m$/m);
  });

  it('trusts nobody who left the list since', async () => {
    const shown = await installation.run(['show', 'm', '--passport', '--json'], {
      SVC_SIGNERS: 'a@b.c https://d.e',
    });
    expect(JSON.parse(shown.stdout).signatures).toMatchObject({
      state: 'unlisted',
      says: expect.stringMatching(/^it is signed by the key [0-9a-f]{16}, which SVC_SIGNERS does not list$/),
    });
  });

  it('shows the page the same, and the service installs nothing else either', async () => {
    const served = await installation.serve();
    const { body } = await served.client.get('/svc/models');
    const [m] = body.models.filter(({ id }: { id: string }) => id === 'm');
    expect(m.signature).toEqual({
      state: 'trusted',
      says: expect.stringMatching(/^it is signed by the key /),
    });
    const token = (await readFile(inFolder('home', 'page-token'), 'utf8')).trim();
    const route = '/svc/models/passport?model=m';
    const told = await passport('m');
    expect((await served.client.get(route, { 'x-svc-page-token': token })).body).toEqual(told);
    const stranger = await served.client.get(route);
    expect(stranger.body).toEqual({
      ...told,
      origin: { ...told.origin, ref: null },
      files: told.files.map((file: object) => ({ ...file, path: null })),
    });
    expect(stranger.text).not.toContain(installation.folder);
    const response = await fetch(`${served.url}/svc/models/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-svc-page-token': token },
      body: JSON.stringify({ path: inFolder('bare', 'm.gguf'), id: 'bare' }),
    });
    expect(await response.text()).toContain('because SVC_SIGNATURES is enforce and it has no signature');
    expect(
      (await served.client.get('/svc/models')).body.models.map(({ id }: { id: string }) => id),
    ).not.toContain('bare');
    served.signal('SIGTERM');
    await served.ended();
  });

  it('quotes the last check, what it ran with, and that settings changed since', async () => {
    const card = JSON.parse((await hearth('check', 'm', '--json')).stdout);
    const { check } = await passport('m');
    expect(check).toMatchObject({
      is_current: true,
      cases: { all: card.cases.all, passed: card.cases.passed },
      library: { release: expect.stringMatching(/^b?v?\d/), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect((await hearth('set', 'm', 'temperature=0.5')).code).toBe(0);
    expect(await passport('m')).toMatchObject({
      check: { is_current: false },
      sampling: { set: { temperature: 0.5 } },
    });
    const { stdout } = await hearth('show', 'm', '--passport');
    expect(stdout).toMatch(
      /^check +\d+ of \d+ cases (?:passed|were tried).*, with other settings than now; llama\.cpp .*, Hearth /m,
    );
  });

  it('knows nothing of other bytes under the same name', async () => {
    expect((await hearth('rm', 'm')).code).toBe(0);
    await writeFile(inFolder('bare', 'm.gguf'), Buffer.concat([weights, Buffer.alloc(1)]));
    const env = { SVC_SIGNATURES: 'off' };
    expect(
      (await installation.run(['import', inFolder('bare', 'm.gguf'), '--id', 'm', '--no-probe'], env)).code,
    ).toBe(0);
    expect(await passport('m')).toMatchObject({ signatures: null, check: null });
  });
});
