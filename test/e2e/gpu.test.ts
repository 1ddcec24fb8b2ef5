/** hearth gpu as a user runs it, with a registry on loopback. */
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findLibraries } from '../../src/lib/files/native-library.ts';
import { startFakeRegistry } from '../support/hub/fake-registry.ts';
import { sendBytes } from '../support/hub/fake-hub.ts';
import { hearth } from '../support/process/hearth.ts';
import { temporaryFolder } from '../support/temp-home.ts';

const isLinux = process.platform === 'linux' && process.arch === 'x64';

describe('hearth gpu', () => {
  it('says what is used, and of each kind what is there and what is missing', async () => {
    const env = { SVC_HOME: await temporaryFolder() };
    const { code, stdout } = await hearth(['gpu', '--json'], env);
    const { setting, folder, support } = JSON.parse(stdout);
    expect([code, setting]).toEqual([0, 'off']);
    expect(folder).toContain('bins');
    expect(support.map(({ kind }: { kind: string }) => kind)).toEqual(
      process.platform !== 'darwin' && process.arch === 'x64' ? ['cuda', 'vulkan'] : [],
    );
    expect((await hearth(['gpu'], env)).stdout).toContain('SVC_GPU is off.');
  });

  it.runIf(isLinux)('finds a library in the home folder', async () => {
    const home = await temporaryFolder();
    const bins = join(home, 'libraries', 'linux-x64-vulkan@3.22.1', 'bins', 'linux-x64-vulkan');
    // Where the system has Vulkan, it is loaded: so it is one that can be.
    const files = findLibraries('cpu', null);
    await cp(files?.folder ?? '', bins, { recursive: true });
    const { stdout } = await hearth(['gpu', '--json'], { SVC_HOME: home });
    expect(JSON.parse(stdout).support).toContainEqual(
      expect.objectContaining({ kind: 'vulkan', installed: true }),
    );
  });

  it('refuses a kind that is none', async () => {
    const { code, stderr } = await hearth(['gpu', 'install', 'abacus'], {
      SVC_HOME: await temporaryFolder(),
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining('not one of cuda, vulkan')]);
  });

  it.runIf(isLinux)('asks the registry of the user, and installs nothing that has another hash', async () => {
    const registry = await startFakeRegistry((request, response) => {
      sendBytes(request, response, Buffer.alloc(24_311_427));
      return true;
    });
    const home = await temporaryFolder();
    const env = { SVC_HOME: home, HOME: home, npm_config_registry: registry.url };
    const { code, stderr } = await hearth(['gpu', 'install', 'vulkan'], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is refused: its hash is sha512-')]);
    expect(await readdir(join(home, 'libraries'))).toEqual([]);
    expect(registry.seen[0]?.path).toBe(
      '/npm/@node-llama-cpp/linux-x64-vulkan/-/linux-x64-vulkan-3.22.1.tgz',
    );
    expect((await hearth(['gpu', 'remove', 'vulkan'], env)).stderr).toContain('was not installed');
  });
});
