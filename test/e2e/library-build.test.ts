/** hearth library build, list and switch as a user runs them, on a source tree that only copies llama.cpp's libraries. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BUILD_FACTS, builtBins, librariesFolder } from '../../src/lib/files/native-library.ts';
import { apiDigest, probeSource } from '../../packages/llama-api/src/probe.ts';
import { leftOut } from '../support/left-out.ts';
import {
  builtLlamaCpp,
  fakeSource,
  pretendRelease,
  writeHeaders,
} from '../support/libraries/fake-llama-cpp.ts';
import { hearth, startHearth, finish } from '../support/process/hearth.ts';
import { EvidenceService, statementOf } from '../support/records/evidence-service.ts';
import { temporaryFolder } from '../support/temp-home.ts';

const run = promisify(execFile);

function runs(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const canBuild =
  process.platform === 'linux' && ['c++', 'cmake', 'git'].every(runs) && (runs('ninja') || runs('make'));
const title = leftOut(canBuild, 'it needs a C++ compiler, CMake and git on Linux');

const inHome = async () => ({ SVC_HOME: await temporaryFolder() });
/** One letter, as the kernel has it. */
async function stateOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') gone');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0] ?? '';
}

const listed = async (env: { SVC_HOME: string }) =>
  (JSON.parse((await hearth(['library', 'list', '--json'], env)).stdout) as { builds: Listed[] }).builds;
interface Listed {
  readonly name: string;
  readonly selected: boolean;
  readonly tested: boolean;
  readonly release: string;
}

describe.runIf(canBuild)(`hearth library build${title}`, () => {
  let source: string;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-source-'));
    source = await fakeSource(path.join(folder, 'v0.5.0'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('builds, tries, measures and keeps a library with what it was made from', async () => {
    const env = await inHome();
    const args = ['library', 'build', '--source', source, '--name', 'mine', '--json'];
    const { code, stdout, stderr } = await hearth(args, env);
    expect([code, stderr]).toEqual([0, expect.stringContaining('kept as mine')]);
    const states = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { status: string }).status);
    expect(states.filter((status) => status !== 'compiling')).toEqual([
      'looking',
      'checking headers',
      'configuring',
      'trying',
      'measuring',
    ]);
    const builds = await listed(env);
    expect(builds.map(({ name }) => name)).toEqual(['package', 'mine']);
    expect(builds.filter(({ selected }) => selected)).toHaveLength(1);
    expect(builds[1]).toMatchObject({
      release: 'v0.5.0',
      tested: true,
      made: { source, options: expect.arrayContaining(['-DGGML_NATIVE=ON', '-DGGML_OPENMP=OFF']) },
      measured: { model: 'hearth-mini', build: expect.any(Number), present: expect.any(Number) },
    });
    const { measured } = builds[1] as Listed & { measured: { build: number; present: number } };
    expect(builds[1]?.selected).toBe(measured.build <= measured.present);
    const facts = await readFile(
      path.join(builtBins(librariesFolder(env.SVC_HOME), 'mine'), BUILD_FACTS),
      'utf8',
    );
    expect(JSON.parse(facts)).toEqual({ release: 'v0.5.0', api: apiDigest() });
    // Sources and objects go when they are no longer needed.
    expect(await readdir(path.join(env.SVC_HOME, 'build', 'objects'))).toEqual([]);
  });

  it('says what it would do, and does nothing', async () => {
    const env = await inHome();
    const { code, stdout } = await hearth(
      ['library', 'build', '--dry-run', '--json', '--gpu', 'none', '--media'],
      env,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ targets: ['mtmd'], fetches: [] });
    expect(existsSync(path.join(env.SVC_HOME, 'build'))).toBe(false);
  });

  it('names what is missing, and the option that fetches it', async () => {
    const { code, stderr } = await hearth(['library', 'build'], {
      ...(await inHome()),
      PATH: await temporaryFolder(),
    });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/no C\+\+ compiler and no CMake is on PATH.*--compiler zig/),
    ]);
  });

  it('names the toolkit that a GPU needs', async () => {
    const tools = await temporaryFolder();
    for (const name of ['c++', 'cmake', 'ninja'])
      if (runs(name)) await symlink((await run('which', [name])).stdout.trim(), path.join(tools, name));
    const { code, stderr } = await hearth(['library', 'build', '--gpu', 'vulkan'], {
      ...(await inHome()),
      PATH: tools,
    });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/glslc is not on PATH; install the Vulkan SDK/),
    ]);
  });

  it('refuses a source whose headers differ, before it compiles anything', async () => {
    const env = await inHome();
    const other = await fakeSource(path.join(await temporaryFolder(), 'v0.9.0'), (header) =>
      header.replace('  int32_t n_gpu_layers;', '  int32_t n_gpu_layers;\n  int64_t something_new;'),
    );
    const { code, stderr } = await hearth(['library', 'build', '--source', other], env);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/cannot be called.*llama_model_params\.split_mode/),
    ]);
    expect(await readdir(path.join(env.SVC_HOME, 'build'))).not.toContain('objects');
  });

  it('ends with the last lines of a compiler that fails, and the place of all', async () => {
    const env = await inHome();
    const broken = await fakeSource(path.join(await temporaryFolder(), 'broken'));
    await rm(path.join(broken, 'made'), { recursive: true });
    const { code, stderr } = await hearth(['library', 'build', '--source', broken], env);
    expect(code).toBe(1);
    expect(stderr).toContain('llama.cpp does not compile');
    expect(stderr).toContain(path.join(env.SVC_HOME, 'build', 'build.log'));
    expect(await listed(env)).toHaveLength(1);
  });

  it('takes another release from a repository, and names its commit', async () => {
    const env = await inHome();
    const repository = await fakeSource(path.join(await temporaryFolder(), 'repository'));
    await pretendRelease(path.join(repository, 'made'), '0.9.0');
    const git = (...args: string[]) =>
      run('git', ['-C', repository, '-c', 'user.name=Test', '-c', 'user.email=t@example.com', ...args]);
    await git('init', '--quiet');
    await git('add', '.');
    await git('commit', '--quiet', '-m', 'release');
    await git('tag', 'v0.9.0');
    const args = ['library', 'build', '--repository', `file://${repository}`];
    const absent = await hearth([...args, '--release', 'v9.9.9'], env);
    expect([absent.code, absent.stderr]).toEqual([2, expect.stringContaining('has no release v9.9.9')]);
    const { code, stderr } = await hearth([...args, '--release', 'v0.9.0'], env);
    expect([code, stderr]).toEqual([0, expect.stringContaining('tests do not run on llama.cpp v0.9.0')]);
    const commit = (await git('rev-parse', 'HEAD')).stdout.trim();
    expect((await listed(env))[1]).toMatchObject({
      name: 'v0.9.0-cpu',
      release: 'v0.9.0',
      tested: false,
      made: { source: `file://${repository} (commit ${commit})` },
    });
  });

  it('ends with all that it started when it is interrupted, and goes on from there', async () => {
    const env = await inHome();
    const slow = await fakeSource(path.join(await temporaryFolder(), 'slow'));
    const pid = path.join(slow, 'pid');
    const project = await readFile(path.join(slow, 'CMakeLists.txt'), 'utf8');
    const wait = path.join(slow, 'wait.sh');
    await writeFile(
      wait,
      `test -e '${slow}/go' || { echo $$ > '${pid}.new'; mv '${pid}.new' '${pid}'; exec sleep 600; }\n`,
    );
    const waiting = project.replace('ALL COMMAND', `ALL COMMAND sh "${wait}" COMMAND`);
    await writeFile(path.join(slow, 'CMakeLists.txt'), waiting);
    const child = startHearth(['library', 'build', '--source', slow, '--json'], env);
    // A second interrupt would end it at once.
    const watch = setInterval(() => {
      if (!existsSync(pid)) return;
      clearInterval(watch);
      child.kill('SIGINT');
    }, 20);
    const { code, stderr } = await finish(child);
    expect([code, stderr]).toEqual([130, expect.stringContaining('Run the same command again to continue')]);
    const running = Number(await readFile(pid, 'utf8'));
    // Whoever adopts it may take a moment to notice its end.
    await vi.waitFor(async () => expect(await stateOf(running)).toMatch(/^(?:gone|Z)$/), 10_000);
    await writeFile(path.join(slow, 'go'), '');
    expect((await hearth(['library', 'build', '--source', slow], env)).code).toBe(0);
  });
});

describe.runIf(canBuild)(`a build of another release${title}`, () => {
  let service: EvidenceService;
  let build: string;
  beforeAll(async () => {
    service = await EvidenceService.create({ tiny: { contextLength: 512 } });
    build = await builtLlamaCpp(path.join(service.folder, 'llama.cpp'));
    await pretendRelease(path.join(build, 'build', 'bin'), '0.9.0');
  });
  afterAll(() => service.remove());

  it('is refused without headers, because nothing says how to call it', async () => {
    const { code, stderr } = await service.cli(['library', 'use', build]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /is llama\.cpp 0\.9\.0-dev, and Hearth was written for v0\.5\.0.*no headers of it were found/,
    );
  });

  it('is refused with headers that differ, and the first difference is named', async () => {
    await writeHeaders(build, (header) =>
      header.replace('LLAMA_POOLING_TYPE_LAST = 3', 'LLAMA_POOLING_TYPE_LAST = 5'),
    );
    const { code, stderr } = await service.cli(['library', 'use', build]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('LLAMA_POOLING_TYPE_LAST')]);
  });

  it('is used with headers that agree, and called untested wherever it is named', async () => {
    await writeHeaders(build);
    const used = await service.cli(['library', 'use', build, '--name', 'newer']);
    expect([used.code, used.stderr]).toEqual([
      0,
      expect.stringContaining('tests do not run on llama.cpp v0.9.0'),
    ]);
    expect((await service.cli(['library'])).stdout).toContain('v0.9.0, your own build (untested by Hearth)');
    await service.start();
    const identity = (await (await fetch(`${service.url}/v1/identity`)).json()) as {
      backend_untested?: string;
    };
    expect(identity.backend_untested).toBe('v0.9.0');
    const port = { SVC_PORT: new URL(service.url).port };
    expect((await service.cli(['status'], port)).stdout).toContain('v0.9.0, untested by Hearth');
    const request = { model: 'tiny', messages: [{ role: 'user', content: 'Count on.' }], max_tokens: 8 };
    const { reply } = await service.saveFrozen('newer', request);
    expect(statementOf(reply).predicate.backend.llama_commit).toBe('v0.9.0 (untested by Hearth)');
    await service.stop();
  });

  it('is no longer used by a Hearth that calls it otherwise, and its owner is told', async () => {
    const facts = path.join(
      builtBins(librariesFolder(path.join(service.folder, 'svc')), 'newer'),
      BUILD_FACTS,
    );
    await writeFile(facts, JSON.stringify({ release: 'v0.9.0', api: '0'.repeat(64) }));
    const { stdout, stderr } = await service.cli(['library']);
    expect(stdout).toContain('as it comes with Hearth');
    expect(stderr).toContain('is not used');
  });
});

describe.runIf(process.platform === 'linux')('builds that are kept', () => {
  it('are switched with one command, back with another, and removed by name', async () => {
    const env = await inHome();
    const build = await builtLlamaCpp(await temporaryFolder());
    for (const name of ['a', 'b']) {
      await writeFile(path.join(build, 'build', 'bin', 'libggml-extra.so'), name);
      expect((await hearth(['library', 'use', build, '--name', name], env)).code).toBe(0);
    }
    const selected = async () => (await listed(env)).filter((each) => each.selected).map(({ name }) => name);
    expect(await selected()).toEqual(['b']);
    await hearth(['library', 'switch'], env);
    expect(await selected()).toEqual(['a']);
    await hearth(['library', 'switch'], env);
    expect(await selected()).toEqual(['b']);
    await hearth(['library', 'switch', 'package'], env);
    expect(await selected()).toEqual(['package']);
    expect(JSON.parse((await hearth(['library', '--json'], env)).stdout)).toMatchObject({ own: false });
    const unknown = await hearth(['library', 'switch', 'c'], env);
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('there are: package, a, b')]);
    await hearth(['library', 'switch', 'a'], env);
    expect((await hearth(['library', 'remove', 'b'], env)).stderr).toContain('is removed');
    expect(await selected()).toEqual(['a']);
    await hearth(['library', 'remove'], env);
    expect(await selected()).toEqual(['package']);
    expect(await readdir(librariesFolder(env.SVC_HOME))).toEqual([]);
  });

  it.each(['../up', 'package', 'a/b', '', 'x'.repeat(65)])('have no name like %j', async (name) => {
    const env = await inHome();
    const build = await builtLlamaCpp(await temporaryFolder());
    const { code, stderr } = await hearth(['library', 'use', build, '--name', name], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be the name of a build')]);
  });
});

describe.runIf(canBuild)(`the probe${title}`, () => {
  /** The first line with an error, or null. */
  async function compile(change?: (header: string) => string): Promise<string | null> {
    const root = await temporaryFolder();
    await writeHeaders(root, change);
    await writeFile(path.join(root, 'probe.cpp'), probeSource());
    const args = ['-std=c++17', '-fsyntax-only', '-I', 'include', '-I', 'ggml/include', 'probe.cpp'];
    try {
      await run('c++', args, { cwd: root });
      return null;
    } catch (error) {
      return (
        String(Reflect.get(Object(error), 'stderr'))
          .split('\n')
          .find((line) => line.includes('error:')) ?? ''
      );
    }
  }

  it('compiles against headers that agree', async () => expect(await compile()).toBeNull());

  it.each([
    ['a member more', 'float rope_freq_base;', 'float rope_freq_base; float more;', 'llama_context_params'],
    [
      'members in another order',
      'bool offload_kqv;\n  bool no_perf;',
      'bool no_perf;\n  bool offload_kqv;',
      'offload_kqv',
    ],
    ['a member of another kind', 'float rope_freq_scale;', 'int32_t rope_freq_scale;', 'rope_freq_scale'],
    ['a wider member', 'int32_t main_gpu;\n', 'int64_t main_gpu;\n', 'main_gpu'],
    ['a member less', '  bool kv_unified;\n', '', 'kv_unified'],
    ['a longer array', 'cpumask[512]', 'cpumask[1024]', 'cpumask'],
    [
      'a parameter more',
      'llama_sampler_init_top_k(int32_t)',
      'llama_sampler_init_top_k(int32_t, size_t)',
      'llama_sampler_init_top_k',
    ],
    [
      'a wider parameter',
      'llama_sampler_init_dist(uint32_t)',
      'llama_sampler_init_dist(uint64_t)',
      'llama_sampler_init_dist',
    ],
    [
      'a float for a number',
      'llama_sampler_init_temp(float)',
      'llama_sampler_init_temp(int32_t)',
      'llama_sampler_init_temp',
    ],
    ['another result', 'bool llama_memory_seq_rm', 'void llama_memory_seq_rm', 'llama_memory_seq_rm'],
    ['a function less', /.*\bllama_get_memory\(.*\n/, '', 'llama_get_memory'],
    [
      'another struct by value',
      'int32_t llama_decode(struct any *, llama_batch)',
      'int32_t llama_decode(struct any *, llama_token_data)',
      'llama_decode',
    ],
    ['another enumerator', 'GGML_TYPE_Q8_0 = 8', 'GGML_TYPE_Q8_0 = 9', 'GGML_TYPE_Q8_0'],
  ] as const)('names %s', async (_, from, to, named) => {
    let isChanged = false;
    const error = await compile((header) => {
      const changed = header.replace(from, to);
      isChanged = changed !== header;
      return changed;
    });
    expect(isChanged).toBe(true);
    expect(error).toContain(named);
  });
});
