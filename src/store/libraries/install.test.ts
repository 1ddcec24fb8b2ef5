import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listen, sendBytes, sendError } from '../../../test/support/hub/fake-hub.ts';
import { packed, startFakeProxy, startFakeRegistry } from '../../../test/support/hub/fake-registry.ts';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { zip } from '../../../test/support/zip.ts';
import { installedPackage } from '../../lib/files/native-library.ts';
import {
  adoptTrial,
  dropTrial,
  fetchForTrial,
  forgetGpuTrial,
  readGpuTrial,
  writeGpuTrial,
} from './gpu-trial.ts';
import { installLibrary, installRuntime, libraryFor, removeLibrary } from './install.ts';
import { throughProxies } from './package-source.ts';

const BINS = join('bins', 'linux-x64-gpu');

const textOf = (folder: string, ...path: string[]): Promise<string> =>
  readFile(join(installedPackage(folder, 'linux-x64-gpu'), ...path), 'utf8');

describe('installing a library for GPUs', () => {
  it('unpacks the package and its extension into one folder, and leaves nothing else', async () => {
    const registry = await startFakeRegistry();
    const folder = join(await temporaryFolder(), 'libraries');
    const install = registry.install(folder);
    expect(await installLibrary(install)).toBe(true);
    expect(await readdir(folder)).toEqual(['linux-x64-gpu@3.22.1']);
    expect(await textOf(folder, BINS, 'libllama.gpu.v0.5.0.so')).toBe('llama\n');
    expect(await textOf(folder, BINS, 'libggml-gpu.so')).toBe('gpu '.repeat(50_000));
    expect(await textOf(folder, BINS, 'empty.json')).toBe('');
    expect(await textOf(folder, BINS, 'fallback', 'libggml-gpu.so')).toBe('older\n');
    expect(JSON.parse(await textOf(folder, 'package.json'))).toMatchObject({
      name: '@node-llama-cpp/linux-x64-gpu',
    });
    expect(registry.seen.map(({ path }) => path)).toEqual([
      '/npm/@node-llama-cpp/linux-x64-gpu/-/linux-x64-gpu-3.22.1.tgz',
      '/npm/@node-llama-cpp/linux-x64-gpu-ext/-/linux-x64-gpu-ext-3.22.1.tgz',
    ]);
    expect(install.events.map(({ status }) => status)).toEqual([
      'downloading',
      'unpacking',
      'downloading',
      'unpacking',
    ]);
  });

  it('keeps a library that is only tried where no worker looks, until it is used', async () => {
    const registry = await startFakeRegistry();
    const folder = await temporaryFolder();
    const install = registry.install(folder);
    await fetchForTrial(install);
    expect(await readdir(folder)).toEqual(['trial']);
    await adoptTrial(folder, install.library.main.name);
    expect(await readdir(folder)).toEqual(['linux-x64-gpu@3.22.1']);
    expect(await textOf(folder, BINS, 'empty.json')).toBe('');
    await fetchForTrial(install);
    await dropTrial(folder);
    expect(await readdir(folder)).toEqual(['linux-x64-gpu@3.22.1']);
  });

  it('remembers what came of trying it, for this version of the package', async () => {
    const folder = join(await temporaryFolder(), 'libraries');
    expect(await readGpuTrial(folder)).toBeNull();
    await writeGpuTrial(folder, { outcome: 'slower', at: '2026-01-01T00:00:00Z' });
    expect(await readGpuTrial(folder)).toMatchObject({ outcome: 'slower' });
    const [record = ''] = await readdir(folder);
    for (const text of ['{', '{}', '{"kind":"vulkan","version":"1.0.0","outcome":"slower","at":"x"}']) {
      await writeFile(join(folder, record), text);
      expect(await readGpuTrial(folder)).toBeNull();
    }
    await forgetGpuTrial(folder);
    expect(await readdir(folder)).toEqual([]);
    // What cannot be read must not keep the service from starting.
    await mkdir(join(folder, record));
    expect(await readGpuTrial(folder)).toBeNull();
  });

  it('does not fetch what is there, and removes it as a whole', async () => {
    const registry = await startFakeRegistry();
    const folder = await temporaryFolder();
    const install = registry.install(folder);
    await installLibrary(install);
    expect(await installLibrary(install)).toBe(false);
    expect(registry.seen).toHaveLength(2);
    expect(await removeLibrary(folder, install.library)).toBe(true);
    expect(await readdir(folder)).toEqual([]);
    expect(await removeLibrary(folder, install.library)).toBe(false);
  });

  it('refuses other bytes than those of the table, and leaves nothing behind', async () => {
    const registry = await startFakeRegistry((request, response, bytes) => {
      const wrong = Buffer.from(bytes);
      wrong[wrong.length - 9] = (wrong.at(-9) ?? 0) ^ 1;
      sendBytes(request, response, wrong);
      return true;
    });
    const folder = await temporaryFolder();
    await expect(installLibrary(registry.install(folder))).rejects.toThrow(
      /^@node-llama-cpp\/linux-x64-gpu@3\.22\.1 is refused: its hash is sha512-\S+ where sha512-\S+ was expected/,
    );
    expect(await readdir(folder)).toEqual([]);
    expect(registry.seen).toHaveLength(1);
  });

  it('refuses more bytes than there should be as soon as they arrive', async () => {
    const registry = await startFakeRegistry((_, response, bytes) => {
      response.end(Buffer.concat([bytes, Buffer.from('more')]));
      return true;
    });
    const folder = await temporaryFolder();
    await expect(installLibrary(registry.install(folder))).rejects.toThrow('more bytes than expected');
    expect(await readdir(folder)).toEqual([]);
  });

  it('removes what a killed process left', async () => {
    const registry = await startFakeRegistry();
    const folder = await temporaryFolder();
    await mkdir(join(folder, '.stage.tmp-1-0123456789ab'));
    await writeFile(join(folder, '.archive.tmp-1-0123456789ab'), 'half');
    await installLibrary(registry.install(folder));
    expect(await readdir(folder)).toEqual(['linux-x64-gpu@3.22.1']);
  });

  it('says that a platform has no such library', () => {
    expect(() => libraryFor('cuda', 'sunos-sparc')).toThrow('Hearth knows no cuda library for sunos-sparc');
    expect(libraryFor('vulkan', 'linux-x64').main.name).toBe('linux-x64-vulkan');
  });
});

describe("CUDA's runtime", () => {
  const zipped = (path: string, text: string) =>
    zip([
      { name: `nvidia/lib/${path}`, text },
      { name: 'nvidia/lib/libunwanted.so', text: 'not taken' },
      { name: 'nvidia-1.dist-info/RECORD', text: '' },
    ]);
  async function runtimeFrom(contents: readonly (readonly [name: string, text: string])[]) {
    const bytes = contents.map(([name, text]) => zipped(name, text));
    const host = await listen(
      createServer((request, response) =>
        sendBytes(request, response, bytes[Number((request.url ?? '').slice(1))] ?? Buffer.alloc(0)),
      ),
    );
    const wheels = contents.map(([name], at) => ({
      label: name,
      url: `${host}/${at}`,
      integrity: `sha256-${createHash('sha256')
        .update(bytes[at] ?? '')
        .digest('base64')}`,
      downloadBytes: bytes[at]?.length ?? 0,
      libraries: [`nvidia/lib/${name}`],
      unpackedBytes: 100,
    }));
    return { host, runtime: { version: 12, folder: 'fallback', wheels } };
  }
  const CONTENTS = [
    ['libcublas.so.12', 'cublas\n'],
    ['libcudart.so.12', 'runtime\n'],
  ] as const;

  it('comes beside the library that needs it, without the rest of the wheels', async () => {
    const registry = await startFakeRegistry();
    const folder = await temporaryFolder();
    const install = registry.install(folder);
    await installLibrary(install);
    const { host, runtime } = await runtimeFrom(CONTENTS);
    const source = { ...install, access: { ...install.access, endpoint: new URL(host) } };
    expect(await installRuntime(source, runtime)).toBe(true);
    const bins = join(installedPackage(folder, 'linux-x64-gpu'), BINS, 'fallback');
    expect((await readdir(bins)).sort()).toEqual(['libcublas.so.12', 'libcudart.so.12', 'libggml-gpu.so']);
    expect(await textOf(folder, BINS, 'fallback', 'libcudart.so.12')).toBe('runtime\n');
    expect(await readdir(folder)).toEqual(['linux-x64-gpu@3.22.1']);
    expect(await installRuntime(source, runtime)).toBe(false);
  });

  it('is not there in part where one of its wheels has another hash', async () => {
    const registry = await startFakeRegistry();
    const folder = await temporaryFolder();
    const install = registry.install(folder);
    await installLibrary(install);
    const { host, runtime } = await runtimeFrom(CONTENTS);
    const [first, last] = runtime.wheels;
    if (first === undefined || last === undefined) throw new Error('two wheels');
    const wheels = [first, { ...last, integrity: first.integrity }];
    const source = { ...install, access: { ...install.access, endpoint: new URL(host) } };
    await expect(installRuntime(source, { ...runtime, wheels })).rejects.toThrow('its hash is sha256-');
    const bins = join(installedPackage(folder, 'linux-x64-gpu'), BINS, 'fallback');
    expect(await readdir(bins)).toEqual(['libggml-gpu.so']);
    expect(await readdir(folder)).toEqual(['linux-x64-gpu@3.22.1']);
  });
});

describe('a registry over a bad network', () => {
  it.each([
    ['continues', true],
    ['sends the whole again', false],
  ])('a connection that is cut off is taken up where the registry %s', async (_, ranges) => {
    let cuts = 0;
    const registry = await startFakeRegistry((request, response, bytes) => {
      if (cuts === 0) {
        cuts += 1;
        response.writeHead(200, { 'content-length': bytes.length });
        response.write(bytes.subarray(0, 200), () => response.destroy());
        return true;
      }
      if (!ranges) response.end(bytes);
      return !ranges;
    });
    const folder = await temporaryFolder();
    const install = registry.install(folder);
    expect(await installLibrary(install)).toBe(true);
    expect(await textOf(folder, BINS, 'libggml-base.so')).toBe('base\n');
    expect(registry.seen[1]?.headers.range).toBe('bytes=200-');
    expect(install.events[0]).toMatchObject({ status: 'retrying' });
  });

  it('is given up in the end, by its name', async () => {
    const registry = await startFakeRegistry((_, response) => {
      response.destroy();
      return true;
    });
    const folder = await temporaryFolder();
    await expect(installLibrary(registry.install(folder))).rejects.toThrow(
      `@node-llama-cpp/linux-x64-gpu@3.22.1 could not be fetched from ${registry.url} (`,
    );
    expect(registry.seen).toHaveLength(3);
    expect(await readdir(folder)).toEqual([]);
  });

  it('that lacks the package is not asked twice', async () => {
    const registry = await startFakeRegistry((_, response) => {
      sendError(response, 404, '');
      return true;
    });
    await expect(installLibrary(registry.install(await temporaryFolder()))).rejects.toThrow(
      'it has no such package',
    );
    expect(registry.seen).toHaveLength(1);
  });

  it('may redirect to a host that the operator trusts, which does not get its token', async () => {
    const authorizations: (string | undefined)[] = [];
    const cdn = await listen(
      createServer((request, response) => {
        authorizations.push(request.headers.authorization);
        sendBytes(request, response, packed((request.url ?? '').slice(1)));
      }),
    );
    const registry = await startFakeRegistry((request, response) => {
      const [name] = /linux-x64-gpu(?:-ext)?(?=\/)/.exec(request.url ?? '') ?? [];
      response.writeHead(302, { location: `${cdn}/${name}` }).end();
      return true;
    });
    const refused = registry.install(await temporaryFolder());
    await expect(installLibrary(refused)).rejects.toThrow('could not be fetched');
    const trusting = { ...refused, access: { ...refused.access, trustedHosts: [new URL(cdn).host] } };
    expect(await installLibrary(trusting)).toBe(true);
    expect(authorizations).toEqual([undefined, undefined]);
    expect(registry.seen.map(({ headers }) => headers.authorization)).toContain(
      'Bearer secret-of-the-registry',
    );
  });

  it('is reached through a proxy', async () => {
    const registry = await startFakeRegistry();
    const proxy = await startFakeProxy();
    const url = new URL(proxy.url);
    url.username = 'me';
    url.password = 'pass word';
    const install = registry.install(await temporaryFolder());
    const access = { ...install.access, connect: throughProxies({ proxyFor: () => url }, 5000) };
    expect(await installLibrary({ ...install, access })).toBe(true);
    const { host } = new URL(registry.url);
    const authorization = `Basic ${Buffer.from('me:pass word').toString('base64')}`;
    expect(proxy.tunnels).toEqual([
      { to: host, authorization },
      { to: host, authorization },
    ]);
  });
});
