/** Identity of an install: real folders, real keys, and coreutils as the second opinion on hashes. */
import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
  mkdir,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateKey } from '../evidence/rotation.ts';
import { findIdentityFault, signIdentity } from './sign-identity.ts';
import { createBackendBinding } from './backend-binding.ts';
import { createBackendGuard, defaultKind, findBoundFolder, hashBackend } from './backend.ts';
import { hashFolder } from './folder-hash.ts';
import { loadIdentity, newInstanceKeys } from './instance.ts';
import { deriveInstanceId } from './instance-id.ts';
import { builtFolder } from '../../lib/base/package-folder.ts';
import { hashServerSource } from './server-source.ts';

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'hearth-identity-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const listHash = (folder: string): string =>
  execFileSync('sh', ['-c', 'find * -type f -exec sha256sum {} + | LC_ALL=C sort | sha256sum'], {
    cwd: folder,
  })
    .toString()
    .slice(0, 64);

describe('instance and boot', () => {
  it('keeps the instance id of a home directory and draws a new boot id each time', async () => {
    const home = join(scratch, 'stable');
    const boots = await Promise.all([loadIdentity({ home }), loadIdentity({ home }), loadIdentity({ home })]);
    const later = await loadIdentity({ home });
    expect(new Set([...boots, later].map((boot) => boot.instanceId)).size).toBe(1);
    expect(new Set([...boots, later].map((boot) => boot.bootId)).size).toBe(4);
    expect(later.instanceId).toMatch(/^svc-[a-z2-7]{26}$/);
    expect(later.bootId).toMatch(/^[0-9a-f]{32}$/);
  });

  it('gives two homes two instances', async () => {
    const [a, b] = [
      await loadIdentity({ home: join(scratch, 'a') }),
      await loadIdentity({ home: join(scratch, 'b') }),
    ];
    expect(a.instanceId).not.toBe(b.instanceId);
  });

  it('derives the id from the key as base32 does', async () => {
    const { instanceId, keys } = await loadIdentity({ home: join(scratch, 'base32') });
    const script = 'openssl dgst -sha256 -binary | base32 | tr A-Z a-z | cut -c1-26';
    const second = execFileSync('sh', ['-c', script], { input: keys.spki }).toString().trim();
    expect(instanceId).toBe(`svc-${second}`);
    expect(deriveInstanceId(keys.spki)).toBe(instanceId);
  });

  it('keeps key and folder from other users, and tightens what was left open', async () => {
    const home = join(scratch, 'modes');
    await mkdir(join(home, 'instance'), { recursive: true, mode: 0o755 });
    await loadIdentity({ home });
    await chmod(join(home, 'instance/key.pem'), 0o644);
    await loadIdentity({ home });
    expect((await stat(join(home, 'instance'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(home, 'instance/key.pem'))).mode & 0o777).toBe(0o600);
  });

  it('refuses a damaged key instead of becoming another instance', async () => {
    const home = join(scratch, 'damaged');
    await loadIdentity({ home });
    await writeFile(join(home, 'instance/key.pem'), 'not a key');
    await expect(loadIdentity({ home })).rejects.toThrow(/restore it from a backup/);
    expect(await readFile(join(home, 'instance/key.pem'), 'utf8')).toBe('not a key');
  });

  it.each([{ gone: [] }, { gone: ['id'] }, { gone: ['first-public-key.pem'] }])(
    'refuses a lost key instead of signing as somebody else, with %o besides',
    async ({ gone }) => {
      const home = join(scratch, `lost-${gone.join()}`);
      const { instanceId } = await loadIdentity({ home });
      for (const name of ['key.pem', ...gone]) await rm(join(home, 'instance', name));
      await expect(loadIdentity({ home })).rejects.toMatchObject({
        code: 'instance_unusable',
        message: expect.stringContaining(`remove the whole folder "${join(home, 'instance')}"`),
      });
      await rm(join(home, 'instance'), { recursive: true });
      expect((await loadIdentity({ home })).instanceId).not.toBe(instanceId);
    },
  );

  it('makes no rotation with a key that the instance never had', async () => {
    const home = join(scratch, 'foreign-key');
    await loadIdentity({ home });
    await loadIdentity({ home: join(scratch, 'owner-of-the-key') });
    await rename(join(scratch, 'owner-of-the-key/instance/key.pem'), join(home, 'instance/key.pem'));
    await expect(rotateKey(home, 0)).rejects.toMatchObject({ code: 'instance_unusable' });
  });
});

describe('hashes of what runs', () => {
  it('agrees with coreutils on the backend folder', async () => {
    const folder = findBoundFolder(defaultKind(), null);
    if (folder === null) throw new Error('the native backend is not installed');
    const hash = await hashBackend(folder);
    expect(hash?.sha256).toBe(listHash(folder));
    expect(hash?.files.map((file) => file.name)).toContainEqual(expect.stringMatching(/llama\.v[\d.]+\./));
  });

  it('agrees with coreutils on the server folder', async () => {
    expect((await hashServerSource()).sha256).toBe(listHash(builtFolder));
  });

  it('agrees with coreutils on nested folders, odd names and leading dots', async () => {
    const folder = join(scratch, 'nested');
    await mkdir(join(folder, 'b/c'), { recursive: true });
    const names = ['a', 'b/x y', 'b/c/é', 'b.txt', 'b/.inner', 'Z', '.stamp'];
    await Promise.all(names.map((name) => writeFile(join(folder, name), `content of ${name}`)));
    const hash = await hashFolder(folder);
    expect(hash.files.map((file) => file.name)).not.toContain('.stamp');
    expect(hash.sha256).toBe(listHash(folder));
  });

  it('is null for a folder without the library', async () => {
    expect(await hashBackend(null)).toBeNull();
    expect(await hashBackend(join(scratch, 'nowhere'))).toBeNull();
  });

  it('refuses links, which could lead anywhere', async () => {
    const folder = join(scratch, 'links');
    await mkdir(folder);
    await symlink('/etc/hostname', join(folder, 'addon.node'));
    await expect(hashFolder(folder)).rejects.toThrow(/not a plain file/);
  });
});

describe('guard against a swap within one boot', () => {
  const prepare = async (name: string) => {
    const folder = join(scratch, name);
    await mkdir(folder);
    await writeLibraries(folder, 'one');
    await writeFile(join(folder, 'libggml.so'), 'two');
    // A whole second, so that another file can be given the very same time.
    await utimes(join(folder, 'libggml.so'), 1_700_000_000, 1_700_000_000);
    return { folder, guard: createBackendGuard(await hashBackend(folder)) };
  };

  it('lets unchanged bytes be bound again', async () => {
    const { guard } = await prepare('same');
    expect(await guard.check()).toBeNull();
  });

  it('lets the same bytes be bound again that were written anew, as by a build', async () => {
    const { folder, guard } = await prepare('again');
    const path = join(folder, 'libggml.so');
    await writeFile(`${path}.new`, 'two');
    await rename(`${path}.new`, path);
    expect(await guard.check()).toBeNull();
  });

  it.each([
    [
      'another content',
      (folder: string) => writeFile(join(folder, 'libggml.so'), 'six'),
      /libggml.so changed/,
    ],
    ['a removed file', (folder: string) => rm(join(folder, 'libggml.so')), /libggml.so is gone/],
    ['an added file', (folder: string) => writeFile(join(folder, 'libevil.so'), 'x'), /libevil.so appeared/],
    [
      'the same size and time in another inode',
      async (folder: string) => {
        const path = join(folder, 'libggml.so');
        await writeFile(`${path}.new`, 'owt');
        await utimes(`${path}.new`, 1_700_000_000, 1_700_000_000);
        await rename(`${path}.new`, path);
      },
      /libggml.so changed/,
    ],
  ])('refuses %s', async (name, change, reason) => {
    const { folder, guard } = await prepare(`swap-${name.replaceAll(' ', '-')}`);
    await change(folder);
    expect(await guard.check()).toMatchObject({
      code: 'files_changed',
      message: expect.stringMatching(reason),
    });
  });

  it('covers further folders, the built server above all', async () => {
    const { guard: plain } = await prepare('extra');
    const server = join(scratch, 'server');
    await mkdir(server);
    await writeFile(join(server, 'main.js'), '1');
    const guard = createBackendGuard(plain.hash, await hashFolder(server));
    await writeFile(join(server, 'main.js'), '22');
    expect((await guard.check())?.message).toMatch(/main.js changed.*; restart the service\.$/);
  });

  it('says so when nothing is installed', async () => {
    expect((await createBackendGuard(null).check())?.message).toMatch(/^No native backend.*hearth doctor/);
  });
});

describe('the bound backend', () => {
  const serverSource = hashFolder(join(import.meta.dirname, '../../../docs'));

  it('is the predicted folder until a worker reports another one', async () => {
    const other = join(scratch, 'reported');
    await mkdir(other);
    await writeLibraries(other, 'a GPU build');
    let reported: string | null = null;
    const binding = createBackendBinding({
      gpu: 'off',
      libraries: '',
      serverSource,
      reportedFolder: () => reported,
    });
    expect(binding.isBound()).toBe(true);
    expect(await binding.hash()).toMatchObject({ folder: findBoundFolder('cpu', null) });
    expect(await binding.refusal()).toBeNull();
    reported = other;
    expect((await binding.hash())?.sha256).toBe(listHash(other));
    expect(binding.knownSha256()).toBe(listHash(other));
    await writeFile(join(other, 'libllama.v0.5.0.so'), 'changed');
    expect((await binding.hash())?.sha256).not.toBe(listHash(other));
    expect((await binding.refusal())?.message).toMatch(/libllama.v0.5.0.so changed/);
  });

  it('is null when the folder holds no library', async () => {
    const binding = createBackendBinding({
      gpu: 'off',
      libraries: '',
      serverSource,
      reportedFolder: () => join(scratch, 'nowhere'),
    });
    expect(await binding.hash()).toBeNull();
    expect(binding.isBound()).toBe(false);
  });
});

describe('signed identity', () => {
  const keys = newInstanceKeys();
  const identity = {
    object: 'svc.identity',
    instance_id: deriveInstanceId(keys.spki),
    boot_id: 'ab',
    native_ready: true,
  };
  const nonce = 'nonce-12345678';
  const address = '127.0.0.1:8740';
  const body = { ...identity, signature: signIdentity(identity, nonce, { keys }, address) };
  const pinned = { keyid: keys.keyid };

  it('passes for the nonce, key and address it was made for', () => {
    expect(findIdentityFault(body, { nonce, pinned, port: 8740 })).toBeNull();
    expect(findIdentityFault(body, { nonce, pinned: { instanceId: identity.instance_id } })).toBeNull();
  });

  it('exposes a squatter with a key of its own', () => {
    const squatter = newInstanceKeys();
    const forged = { ...identity, signature: signIdentity(identity, nonce, { keys: squatter }, address) };
    expect(findIdentityFault(forged, { nonce, pinned })).toMatch(/another key/);
    expect(findIdentityFault(forged, { nonce, pinned: { instanceId: identity.instance_id } })).toMatch(
      /another key/,
    );
  });

  it.each([
    ['no signature', identity, /no well-formed signature/],
    [
      'a replayed nonce',
      { ...body, signature: { ...body.signature, nonce: 'old-nonce-1' } },
      /another nonce/,
    ],
    ['an altered body', { ...body, boot_id: 'cd' }, /does not fit/],
    ['an added member', { ...body, extra: 1 }, /does not fit/],
    ['a relayed address', { ...body, signature: { ...body.signature, address: '127.0.0.1:9' } }, /relays/],
    ['a malformed key', { ...body, signature: { ...body.signature, public_key: 'x' } }, /key is malformed/],
    ['an empty signature', { ...body, signature: { ...body.signature, sig: '' } }, /does not fit/],
  ])('refuses %s', (_name, forged, reason) => {
    expect(findIdentityFault(forged as Record<string, unknown>, { nonce, pinned, port: 8740 })).toMatch(
      reason,
    );
  });
});

/** The names by which a folder counts as llama.cpp's. */
async function writeLibraries(folder: string, content: string): Promise<void> {
  for (const name of ['libllama.v0.5.0.so', 'libggml.v0.5.0.so', 'libggml-base.so'])
    await writeFile(join(folder, name), content);
}
