/** Who may be installed, by the setting, for every way in which a model gets into the store. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startFakeHub } from '../../../../test/support/hub/fake-hub.ts';
import { pullAll } from '../../../../test/support/hub/pulling.ts';
import { modelSignature, newSigner, type TestSigner } from '../../../../test/support/signatures/signed.ts';
import {
  chatBytes,
  chatParts,
  temporaryFolder,
  temporaryRegistry,
} from '../../../../test/support/temp-home.ts';
import { importFile } from '../../../store/install/import.ts';
import type { InstallEvent } from '../../../store/install/install-event.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { readFinding } from '../../../store/passports/findings.ts';
import { SIGNATURES } from '../../../store/passports/signatures.ts';
import { signatureGate, type SignatureSettings } from './signature-gate.ts';

type Mode = SignatureSettings['signatures'];
interface Way {
  readonly home: string;
  readonly registry: Registry;
  /** Everything that was told. */
  install(mode: Mode, signers: readonly string[]): Promise<InstallEvent[]>;
  id: string;
}

/** Files of a model, its weights first, and their signatures. */
type Files = Readonly<Record<string, Buffer>>;

async function pulling(files: Files): Promise<Way> {
  const hub = await startFakeHub(
    Object.fromEntries(
      Object.entries(files).map(([name, content]) => [name, { content, lfs: name.endsWith('.gguf') }]),
    ),
  );
  const home = await temporaryFolder();
  const registry = await temporaryRegistry({ home });
  return {
    home,
    registry,
    id: 'some/model-gguf:m',
    install: (signatures, signers) => {
      const gate = signatureGate({ home, signatures, signers, sigstoreRoot: null });
      return pullAll(registry, 'Some/Model-GGUF', { ...hub.access, signatures: gate });
    },
  };
}

async function importing(files: Files, copy: boolean): Promise<Way> {
  const folder = await temporaryFolder();
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
  const home = join(await temporaryFolder(), 'home');
  await mkdir(home);
  const registry = await temporaryRegistry({ home });
  const [first = ''] = Object.keys(files);
  return {
    home,
    registry,
    id: 'm',
    install: async (signatures, signers) => {
      const events: InstallEvent[] = [];
      const gate = signatureGate({ home, signatures, signers, sigstoreRoot: null });
      const onEvent = (event: InstallEvent) => void events.push(event);
      await importFile(registry, join(folder, first), { id: 'm', copy, onEvent, signatures: gate });
      return events;
    },
  };
}

const ways: readonly (readonly [string, (files: Files) => Promise<Way>])[] = [
  ['pulled', pulling],
  ['imported in place', (files) => importing(files, false)],
  ['imported as a copy', (files) => importing(files, true)],
];

async function listed({ pem }: TestSigner): Promise<string> {
  const file = join(await temporaryFolder(), 'signer.pem');
  await writeFile(file, pem);
  return file;
}

const said = (events: readonly InstallEvent[]) => events.filter(({ status }) => status === 'signature');
const signer = newSigner();
const stranger = newSigner();
const weights = chatBytes(3);
const signed = {
  'm.gguf': weights,
  'model.sig': modelSignature(signer, { 'm.gguf': weights, 'README.md': Buffer.from('x') }),
};
const other = { ...signed, 'm.gguf': chatBytes(4) };

describe.each(ways)('a model that is %s', (_, way) => {
  const refused = async (files: Files, signers: readonly string[]): Promise<string> => {
    const { install, registry, home } = await way(files);
    const error: unknown = await install('enforce', signers).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(await registry.list()).toEqual([]);
    expect(await readdir(registry.store.paths.blobs).catch(() => [])).toEqual([]);
    expect(await readdir(home)).not.toContain('passports');
    return error instanceof Error ? error.message : 'installed';
  };

  it('with enforce is installed if a listed signer signed its bytes, and its finding is kept', async () => {
    const { install, registry, home, id } = await way(signed);
    const events = await install('enforce', [await listed(signer)]);
    expect(said(events)).toEqual([
      {
        status: 'signature',
        state: 'trusted',
        says: expect.stringMatching(/is signed by the key [0-9a-f]{16}\.$/),
      },
    ]);
    expect(await readFinding(home, await registry.find(id), SIGNATURES)).toMatchObject({
      files: [{ name: 'm.gguf', state: 'trusted', signature: 'model.sig' }],
    });
  });

  it('with enforce is refused if it is signed by a stranger, altered, or not signed', async () => {
    const list = [await listed(signer)];
    expect(await refused({ ...signed, 'model.sig': modelSignature(stranger, signed) }, list)).toMatch(
      /is not installed, because SVC_SIGNATURES is enforce and it has a signature that no key in SVC_SIGNERS verifies: it is of another key, or the bytes were changed; if you trust the signer, add the file/,
    );
    expect(await refused(other, list)).toMatch(
      /the signature model\.sig of it does not hold: the file has other bytes than those that were signed; get its files again/,
    );
    expect(await refused({ 'm.gguf': weights }, list)).toMatch(/it has no signature; choose a signed model/);
    const noSignature = { 'm.gguf': weights, 'm.gguf.sig': Buffer.from('hello') };
    expect(await refused(noSignature, list)).toMatch(/no key in SVC_SIGNERS verifies/);
    expect(await refused(signed, [])).toMatch(/no key in SVC_SIGNERS verifies/);
  });

  it('with warn is installed, and what is wrong is said once', async () => {
    for (const [files, list, state] of [
      [other, [signer], 'failed'],
      [signed, [stranger], 'unlisted'],
      [{ 'm.gguf': weights }, [signer], 'unsigned'],
    ] as const) {
      const { install, registry, home, id } = await way(files);
      const events = said(await install('warn', await Promise.all(list.map(listed))));
      expect(events).toMatchObject([{ state }]);
      expect(await readFinding(home, await registry.find(id), SIGNATURES)).toMatchObject({
        files: [{ state }],
      });
    }
  });

  it('with warn and no list says nothing of a model without a signature', async () => {
    const { install } = await way({ 'm.gguf': weights });
    expect(said(await install('warn', []))).toEqual([]);
  });

  it('with off is installed whatever lies beside it', async () => {
    const { install, registry, home, id } = await way(other);
    expect(said(await install('off', [await listed(signer)]))).toEqual([]);
    expect(await readFinding(home, await registry.find(id), SIGNATURES)).toBeNull();
  });
});

describe('a model of several files', () => {
  it('is as well signed as the worst of them', async () => {
    const [one, two] = chatParts();
    const names = ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf'] as const;
    const list = [await listed(signer)];
    const parts = { [names[0]]: one, [names[1]]: two };
    const whole = await importing({ ...parts, 'model.sig': modelSignature(signer, parts) }, false);
    expect(said(await whole.install('enforce', list))).toMatchObject([{ state: 'trusted' }]);
    const half = modelSignature(signer, { [names[0]]: one });
    const partly = await importing({ ...parts, 'model.sig': half }, false);
    await expect(partly.install('enforce', list)).rejects.toThrow('m-00002-of-00002.gguf has no signature');
  });
});

describe('a hub without a signature', () => {
  it('is refused before its files are fetched', async () => {
    const hub = await startFakeHub({ 'm.gguf': weights });
    const home = await temporaryFolder();
    const registry = await temporaryRegistry({ home });
    const gate = signatureGate({ home, signatures: 'enforce', signers: [], sigstoreRoot: null });
    await expect(pullAll(registry, 'Some/Model-GGUF', { ...hub.access, signatures: gate })).rejects.toThrow(
      'it has no signature',
    );
    expect(hub.requests('cdn')).toEqual([]);
  });
});
