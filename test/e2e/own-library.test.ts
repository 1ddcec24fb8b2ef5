/** hearth library as a user runs it: a build under llama.cpp's own names, the service on it, and its records. */
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtBins, librariesFolder } from '../../src/lib/files/native-library.ts';
import { EvidenceService, statementOf } from '../support/records/evidence-service.ts';
import { hearth } from '../support/process/hearth.ts';
import { builtLlamaCpp } from '../support/libraries/fake-llama-cpp.ts';
import { breakFunction } from '../support/libraries/patched-library.ts';
import { temporaryFolder } from '../support/temp-home.ts';

const isLinux = process.platform === 'linux';

const request = { model: 'tiny', messages: [{ role: 'user', content: 'Count on.' }], max_tokens: 12 };

describe.runIf(isLinux)('the user’s own build of llama.cpp', () => {
  let service: EvidenceService;
  let build: string;
  let home: string;
  beforeAll(async () => {
    service = await EvidenceService.create({ tiny: { contextLength: 512 } });
    home = path.join(service.folder, 'svc');
    build = await builtLlamaCpp(path.join(service.folder, 'llama.cpp'));
  });
  afterAll(() => service.remove());

  it('is copied with what computes, and nothing else', async () => {
    const { code, stderr } = await service.cli(['library', 'use', build]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('was tried and copied')]);
    const names = await readdir(builtBins(librariesFolder(home), 'own'));
    expect(names).toEqual(expect.arrayContaining(['libggml-base.so', 'libggml.so', 'libllama.so']));
    expect(names.filter((name) => !name.startsWith('libggml'))).toEqual(['hearth-build.json', 'libllama.so']);
    expect(await readdir(librariesFolder(home))).toHaveLength(1);
    expect((await service.cli(['library', 'use', path.join(build, 'build')])).stderr).toContain(
      'in use already',
    );
  });

  it('is what answers, hearth shows it, and its records replay until it is removed', async () => {
    const shown = JSON.parse((await service.cli(['library', '--json'])).stdout);
    expect(shown).toMatchObject({ own: true, from: path.join(build, 'build', 'bin') });
    expect((await service.cli(['gpu'])).stdout).toContain('your own build of llama.cpp');
    await service.start();
    expect((await service.cli(['status'], { SVC_PORT: new URL(service.url).port })).stdout).toContain(
      'is ready',
    );
    const { reply, args } = await service.saveFrozen('own', request);
    expect(statementOf(reply).predicate.backend.backend_sha256).toBe(shown.sha256);
    await service.stop();
    const verify = [...args, '--replay'];
    expect(await service.cli(verify)).toMatchObject({ code: 0 });

    const removed = await service.cli(['library', 'remove']);
    expect(removed.stderr).toContain('is removed');
    expect((await service.cli(verify)).stdout).toContain('backend');
    expect((await service.cli(verify)).code).not.toBe(0);
    expect((await service.cli(['library', 'remove'])).stderr).toContain('No build of your own');
    expect(JSON.parse((await service.cli(['library', '--json'])).stdout)).toMatchObject({ own: false });
  });
});

it.runIf(isLinux)(
  'a copy that lacks a file is missed, and no other library computes in its place',
  async () => {
    const folder = await temporaryFolder();
    const env = { SVC_HOME: path.join(folder, 'home') };
    const copy = builtBins(librariesFolder(env.SVC_HOME), 'own');
    await hearth(['library', 'use', await builtLlamaCpp(path.join(folder, 'llama.cpp'))], env);
    await rm(path.join(copy, 'libllama.so'));
    const shown = await hearth(['library'], env);
    expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining('your own build')]);
    expect(shown.stderr).toContain('libllama.so cannot be loaded');
    const doctor = await hearth(['doctor'], env);
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining('hearth library remove')]);
  },
);

it.runIf(isLinux)(
  'a build that loads a library from elsewhere is refused, because no hash would cover it',
  async () => {
    const folder = await temporaryFolder();
    const bin = path.join(await builtLlamaCpp(path.join(folder, 'llama.cpp')), 'build', 'bin');
    // Packages look for what they need beside themselves, so that a link to another folder leads there.
    const elsewhere = path.join(folder, 'elsewhere');
    await mkdir(elsewhere);
    const home = path.join(folder, 'home');
    await hearth(['library', 'use', bin], { SVC_HOME: home });
    const copy = builtBins(librariesFolder(home), 'own');
    await rename(path.join(copy, 'libggml-base.so'), path.join(elsewhere, 'libggml-base.so'));
    await symlink(path.join(elsewhere, 'libggml-base.so'), path.join(copy, 'libggml-base.so'));
    const { code, stderr } = await hearth(['library'], { SVC_HOME: home });
    expect([code, stderr]).toEqual([1, expect.stringContaining('which is not among the libraries of')]);
  },
);

it.runIf(isLinux)('a link that leads nowhere is named', async () => {
  const folder = await temporaryFolder();
  const bin = path.join(await builtLlamaCpp(path.join(folder, 'llama.cpp')), 'build', 'bin');
  await symlink('gone.so', path.join(bin, 'libggml-rpc.so'));
  const { code, stderr } = await hearth(['library', 'use', bin], { SVC_HOME: path.join(folder, 'home') });
  expect([code, stderr]).toEqual([2, expect.stringContaining('libggml-rpc.so cannot be copied: ENOENT')]);
});

it.runIf(isLinux && process.arch !== 'arm').each(['llama_init_from_model', 'llama_decode'])(
  'a build that boots, and whose %s ends the process, is refused, and the home stays as it was',
  async (name) => {
    const build = await builtLlamaCpp(await temporaryFolder());
    await breakFunction(path.join(build, 'build', 'bin', 'libllama.so.0.5.0'), name);
    const home = await temporaryFolder();
    const { code, stderr } = await hearth(['library', 'use', build], { SVC_HOME: home });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/no model can be loaded with it .* SIG(?:ILL|SEGV)/),
    ]);
    expect(await readdir(librariesFolder(home))).toEqual([]);
    expect((await hearth(['library'], { SVC_HOME: home })).stdout).toContain('as it comes with Hearth');
  },
);

describe('a folder that is no such build', () => {
  it.each([
    ['nowhere', [], 'there is no such folder'],
    ['empty', [], 'has the shared libraries llama, ggml and ggml-base'],
    [
      'broken',
      ['libllama.so', 'libggml.so', 'libggml-base.so'],
      'libggml-base.so cannot be loaded: file too short',
    ],
  ] as const)('is refused with the reason, and the home stays as it was: %s', async (name, files, reason) => {
    const folder = path.join(await temporaryFolder(), name);
    if (name !== 'nowhere') await mkdir(folder);
    for (const file of files) await writeFile(path.join(folder, file), 'no library');
    const home = await temporaryFolder();
    const { code, stderr } = await hearth(['library', 'use', folder], { SVC_HOME: home });
    expect(code).not.toBe(0);
    expect(stderr).toContain('holds no llama.cpp that Hearth can use');
    expect(stderr).toContain(reason);
    expect(await readdir(librariesFolder(home)).catch(() => [])).toEqual([]);
  });

  it.runIf(isLinux)('is refused where it has no GPU of the kind that SVC_GPU demands', async () => {
    const env = { SVC_HOME: await temporaryFolder(), SVC_GPU: 'vulkan' };
    const { code, stderr } = await hearth(
      ['library', 'use', await builtLlamaCpp(await temporaryFolder())],
      env,
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining('SVC_GPU=vulkan cannot be met')]);
  });
});

it('a build for another version of Hearth is not used, and its owner is told', async () => {
  const home = await temporaryFolder();
  const old = path.join(librariesFolder(home), 'own@3.0.0', 'bins');
  await mkdir(old, { recursive: true });
  const env = { SVC_HOME: home };
  const shown = await hearth(['library'], env);
  expect(shown.stdout).toContain('as it comes with Hearth');
  expect(shown.stderr).toContain('is not used, because this version of Hearth needs v0.5.0 or a build');
  expect((await hearth(['doctor'], env)).stdout).toContain('your own build is not used');
  await hearth(['library', 'remove'], env);
  expect(await readdir(librariesFolder(home))).toEqual([]);
});
