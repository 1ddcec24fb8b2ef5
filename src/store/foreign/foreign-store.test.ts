import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ForeignStoreName } from '../files/manifest.ts';
import { discover, scanForeignStore } from './discover.ts';
import type { ForeignScan } from './foreign-store.ts';
import { scanFolder } from './llama-cpp.ts';
import { installCandidate } from '../install/import.ts';
import { verifyModel } from '../install/verify.ts';
import { asOrdinaryUser, needsReadable } from '../../../test/support/process/other-user.ts';
import { chatBytes, chatParts, temporaryFolder, temporaryRegistry } from '../../../test/support/temp-home.ts';

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const ids = (scan: ForeignScan) => scan.candidates.map((candidate) => candidate.id);
const COMMIT = 'c'.repeat(40);

async function put(path: string, content: Buffer | string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

async function scan(
  store: ForeignStoreName,
  userHome: string,
  env: Record<string, string> = {},
): Promise<ForeignScan> {
  return scanForeignStore(store, { env, userHome, platform: 'linux' });
}

/** Installs everything a scan found and checks that each model loads from where it lies. */
async function adoptAll(found: ForeignScan): Promise<void> {
  const registry = await temporaryRegistry();
  for (const candidate of found.candidates) {
    const model = await installCandidate(registry, candidate, {});
    await registry.toTarget(model).source.verify();
  }
  expect(await readdir(registry.store.paths.blobs)).toEqual([]);
}

const LAYER = 'application/vnd.ollama.image.';

async function putOllama(
  root: string,
  name: string,
  layers: readonly [string, Buffer | string][],
): Promise<string> {
  const described = [];
  for (const [type, content] of layers) {
    const digest = sha256(content);
    await put(join(root, 'blobs', `sha256-${digest}`), content);
    described.push({ mediaType: LAYER + type, digest: `sha256:${digest}`, size: content.length });
  }
  return put(
    join(root, 'manifests', ...name.split('/')),
    JSON.stringify({ schemaVersion: 2, layers: described }),
  );
}

describe('Ollama', () => {
  it('yields models with their parameters, digest and shown name', async () => {
    const home = await temporaryFolder();
    const root = join(home, '.ollama/models');
    const params = JSON.stringify({ num_ctx: 256, stop: ['<|im_end|>'], temperature: 'hot', mirostat: 2 });
    await putOllama(root, 'registry.ollama.ai/library/tiny/1b', [
      ['model', chatBytes(1)],
      ['params', params],
      ['template', '{{ .Prompt }}'],
    ]);
    await putOllama(root, 'registry.ollama.ai/library/tiny/latest', [['model', chatBytes(2)]]);
    await putOllama(root, 'hf.co/User/Repo-GGUF/Q4_K_M', [['model', chatBytes(3)]]);
    const found = await scan('ollama', home);
    expect(found.problems).toEqual([]);
    expect(ids(found)).toEqual(['user/repo-gguf:q4_k_m', 'tiny:1b', 'tiny']);
    expect(found.candidates[1]).toMatchObject({
      params: { numCtx: 256, stop: ['<|im_end|>'] },
      files: [{ statedSha256: sha256(chatBytes(1)) }],
    });
    expect(found.candidates[1]?.params).not.toHaveProperty('temperature');
    await adoptAll(found);
  });

  it('says why entries cannot be used, and never follows a digest that is not one', async () => {
    const home = await temporaryFolder();
    const root = join(home, 'moved');
    const manifest = (text: string) =>
      put(join(root, 'manifests/r/library', text.length.toString(), 'x'), text);
    await manifest('');
    await manifest('{"layers":{}}');
    await manifest(
      JSON.stringify({
        layers: [{ mediaType: `${LAYER}model`, digest: 'sha256:../../../etc/passwd', size: 1 }],
      }),
    );
    await putOllama(root, 'r/library/lora/x', [
      ['model', chatBytes()],
      ['adapter', 'x'],
    ]);
    await putOllama(root, 'r/library/mlx/x', [['tensor', 'x']]);
    await put(join(root, 'manifests/r/library/.hidden/x'), '{}');
    await put(join(root, 'manifests/r/library/too/deep/x'), '{}');
    const found = await scan('ollama', home, { OLLAMA_MODELS: `"${root}"` });
    expect(found.candidates).toEqual([]);
    expect(found.problems.map((problem) => problem.reason).sort()).toEqual([
      'it is not an Ollama manifest',
      'it is not an Ollama manifest',
      'it names no GGUF weights',
      'it needs a LoRA adapter, which is not supported',
      'its weights are not GGUF',
    ]);
  });

  it('refuses a blob that is a link out of the store, and notices one that was pruned', async () => {
    const home = await temporaryFolder();
    const root = join(home, '.ollama/models');
    const outside = await put(join(home, 'secret.gguf'), chatBytes());
    await put(
      join(root, 'manifests/r/library/evil/latest'),
      JSON.stringify({
        layers: [{ mediaType: `${LAYER}model`, digest: `sha256:${'a'.repeat(64)}`, size: 1 }],
      }),
    );
    const found = await scan('ollama', home);
    const registry = await temporaryRegistry();
    const [candidate] = found.candidates;
    await expect(installCandidate(registry, candidate!, {})).rejects.toMatchObject({
      code: 'file_not_found',
    });
    await mkdir(join(root, 'blobs'), { recursive: true });
    await symlink(outside, join(root, 'blobs', `sha256-${'a'.repeat(64)}`));
    await expect(installCandidate(registry, candidate!, {})).rejects.toThrow('points outside the folder');
    expect(await registry.list()).toEqual([]);
  });

  it.each(['copy', 'hardLink'] as const)(
    'refuses by %s a blob that is not what its name says',
    async (way) => {
      const home = await temporaryFolder();
      const root = join(home, '.ollama/models');
      await putOllama(root, 'r/library/tiny/latest', [['model', chatBytes(1)]]);
      await put(join(root, 'blobs', `sha256-${sha256(chatBytes(1))}`), chatBytes(2));
      const [candidate] = (await scan('ollama', home)).candidates;
      const registry = await temporaryRegistry();
      await expect(installCandidate(registry, candidate!, { [way]: true })).rejects.toMatchObject({
        code: 'digest_mismatch',
        detail: { expected: sha256(chatBytes(1)), actual: sha256(chatBytes(2)) },
      });
      expect(await registry.list()).toEqual([]);
      expect(await readdir(registry.store.paths.blobs)).toEqual([]);
      expect(await readdir(registry.store.paths.partial)).toEqual([]);
    },
  );

  it('takes a digest over from its name by reference, and hearth verify compares it', async () => {
    const home = await temporaryFolder();
    const root = join(home, '.ollama/models');
    await putOllama(root, 'r/library/tiny/latest', [['model', chatBytes(1)]]);
    await put(join(root, 'blobs', `sha256-${sha256(chatBytes(1))}`), chatBytes(2));
    const registry = await temporaryRegistry();
    await installCandidate(registry, (await scan('ollama', home)).candidates[0]!, {});
    expect(await verifyModel(registry, 'tiny')).toMatchObject({
      ok: false,
      files: [{ state: 'damaged', expected: sha256(chatBytes(1)), actual: sha256(chatBytes(2)) }],
    });
  });

  it('reads as unreadable, not as empty, when permissions are missing', async (context) => {
    const home = await temporaryFolder();
    await chmod(home, 0o755);
    const root = join(home, '.ollama/models');
    await putOllama(root, 'r/library/tiny/latest', [['model', chatBytes()]]);
    needsReadable(context, root);
    await chmod(join(root, 'manifests'), 0o000);
    const found = await asOrdinaryUser(() => scan('ollama', home));
    await chmod(join(root, 'manifests'), 0o755);
    expect(found.problems).toEqual([
      { path: join(root, 'manifests'), reason: 'it is not readable by this user (EACCES)' },
    ]);
  });
});

describe('the Hugging Face cache', () => {
  async function putRepo(
    hub: string,
    repo: string,
    files: Record<string, Buffer>,
    ref = 'refs/main',
  ): Promise<string> {
    const folder = join(hub, `models--${repo.replace('/', '--')}`);
    await put(join(folder, ref), COMMIT);
    for (const [name, content] of Object.entries(files)) {
      await put(join(folder, 'blobs', sha256(content)), content);
      await mkdir(dirname(join(folder, 'snapshots', COMMIT, name)), { recursive: true });
      const up = '../'.repeat(name.split('/').length + 1);
      await symlink(`${up}blobs/${sha256(content)}`, join(folder, 'snapshots', COMMIT, name));
    }
    return folder;
  }

  it('yields the files of the current snapshot with the digest that their blob is named by', async () => {
    const hub = join(await temporaryFolder(), 'hub');
    await putRepo(hub, 'Some.Org/Tiny-GGUF', {
      'Tiny-Q4_K_M.gguf': chatBytes(1),
      'sub/Tiny-Q8_0.gguf': chatBytes(2),
      'mmproj-F16.gguf': chatBytes(3),
    });
    await putRepo(hub, 'a/branch', { 'x-F16.gguf': chatBytes(4) }, 'refs/pr-1');
    const found = await scan('hf', '/nowhere', { HF_HUB_CACHE: hub });
    expect(ids(found)).toEqual(['some.org/tiny-gguf:q4_k_m', 'some.org/tiny-gguf:q8_0', 'a/branch:f16']);
    expect(found.candidates[0]).toMatchObject({
      source: { type: 'hf', commit: COMMIT },
      ownedBy: 'hf:Some.Org',
      files: [{ statedSha256: sha256(chatBytes(1)) }],
    });
    expect(found.problems).toEqual([]);
    await adoptAll(found);
  });

  it('keeps the good files beside broken links, links out of the repository and missing parts', async () => {
    const home = await temporaryFolder();
    const hub = join(home, 'h', 'hub');
    const folder = await putRepo(hub, 'a/b', {
      'good-Q4_0.gguf': chatBytes(1),
      'part-00001-of-00002.gguf': chatBytes(2),
    });
    const snapshot = join(folder, 'snapshots', COMMIT);
    await symlink('../../blobs/missing', join(snapshot, 'broken-Q8_0.gguf'));
    await symlink(await put(join(home, 'secret.gguf'), chatBytes()), join(snapshot, 'evil-Q8_0.gguf'));
    await put(join(folder, 'blobs', 'x.incomplete'), 'x');
    const found = await scan('hf', home, { HF_HOME: join(home, 'h') });
    expect(ids(found)).toEqual(['a/b:q4_0']);
    expect(found.problems.map((problem) => problem.reason).sort()).toEqual([
      '1 of 2 parts are missing',
      'it is a broken link',
      'it points outside the store',
    ]);
  });

  it.each(['copy', 'hardLink'] as const)('gives parts that survive its removal by %s', async (way) => {
    const hub = join(await temporaryFolder(), 'hub');
    const [first, second] = chatParts();
    const names = ['m-Q4_0-00001-of-00002.gguf', 'm-Q4_0-00002-of-00002.gguf'] as const;
    await putRepo(hub, 'a/b', { [names[0]]: first, [names[1]]: second });
    const [candidate] = (await scan('hf', '/nowhere', { HF_HUB_CACHE: hub })).candidates;
    const registry = await temporaryRegistry();
    const model = await installCandidate(registry, candidate!, { [way]: true });
    await rm(hub, { recursive: true });
    const target = registry.toTarget(model).source;
    await target.verify();
    for (const [position, bytes] of [first, second].entries()) {
      const path = join(dirname(target.path), names[position]!);
      expect((await lstat(path)).isFile()).toBe(true);
      expect((await readFile(path)).equals(bytes)).toBe(true);
    }
  });

  it('is found through every variable that moves it, in the order the Python tools use', async () => {
    const home = await temporaryFolder();
    for (const hub of ['one', 'two/hub', '.cache/huggingface/hub']) {
      await putRepo(join(home, hub), `x/${hub[0] === '.' ? 'd' : hub.slice(0, 3)}`, {
        'm-F16.gguf': chatBytes(),
      });
    }
    expect(ids(await scan('hf', home))).toEqual(['x/d:f16']);
    expect(ids(await scan('hf', home, { HF_HOME: '~/two' }))).toEqual(['x/two:f16']);
    expect(ids(await scan('hf', home, { HF_HOME: '~/two', HF_HUB_CACHE: '~/one' }))).toEqual(['x/one:f16']);
  });
});

describe('LM Studio', () => {
  it('follows its pointer and its settings, and tells quants of one model apart', async () => {
    const home = await temporaryFolder();
    await put(join(home, '.lmstudio-home-pointer'), `${home}/lms\n`);
    await put(join(home, 'lms/settings.json'), JSON.stringify({ downloadsFolder: join(home, 'big-disk') }));
    const models = join(home, 'big-disk');
    await put(join(models, 'pub/Two/Two-Q4_0.gguf'), chatBytes(1));
    await put(join(models, 'pub/Two/Two-Q8_0.gguf'), chatBytes(2));
    await put(join(models, 'pub/One/One-Q8_0.gguf'), chatBytes(3));
    await put(join(models, 'pub/One/mmproj-One.gguf'), chatBytes(4));
    await put(join(models, 'ignored-at-top.gguf'), chatBytes(5));
    await put(join(models, 'pub/Half/x.gguf.downloadInProgress'), 'x');
    const found = await scan('lmstudio', home);
    expect(ids(found)).toEqual(['pub/one', 'pub/two:q4_0', 'pub/two:q8_0']);
    await adoptAll(found);
  });

  it('falls back to its usual folder when the settings are damaged, and says so', async () => {
    const home = await temporaryFolder();
    const settings = await put(join(home, '.lmstudio/settings.json'), '{"downloadsFolder":');
    await put(join(home, '.lmstudio/models/pub/m/m.gguf'), chatBytes());
    const found = await scan('lmstudio', home);
    expect(ids(found)).toEqual(['pub/m']);
    expect(found.problems).toEqual([
      { path: settings, reason: 'it is not JSON, so the usual folder was searched' },
    ]);
  });
});

describe('llama.cpp', () => {
  it('yields its flat cache without unfinished files', async () => {
    const home = await temporaryFolder();
    await put(join(home, '.cache/llama.cpp/user_repo_model-Q4_0.gguf'), chatBytes());
    await put(join(home, '.cache/llama.cpp/user_repo_model-Q4_0.gguf.etag'), 'x');
    await put(join(home, '.cache/llama.cpp/other.gguf.downloadInProgress'), 'x');
    const found = await scan('llama.cpp', home);
    expect(ids(found)).toEqual(['user_repo_model-q4_0']);
    await adoptAll(found);
  });
});

describe('Jan', () => {
  it('yields models by their yml, with paths inside the data folder or linked absolutely', async () => {
    const home = await temporaryFolder();
    const data = join(home, '.local/share/Jan/data');
    await put(
      join(data, 'llamacpp/models/org/tiny/model.yml'),
      'model_path: llamacpp/models/org/tiny/model.gguf\nname: Tiny\n',
    );
    await put(join(data, 'llamacpp/models/org/tiny/model.gguf'), chatBytes(1));
    const linked = await put(join(home, 'elsewhere.gguf'), chatBytes(2));
    await put(join(data, 'llamacpp/models/linked/model.yml'), `model_path: ${linked}\n`);
    const found = await scan('jan', home);
    expect(ids(found)).toEqual(['linked', 'org/tiny']);
    await adoptAll(found);
  });

  it('refuses paths that climb out of its data folder and files that are no such yml', async () => {
    const home = await temporaryFolder();
    await put(join(home, 'secret.gguf'), chatBytes());
    await put(join(home, 'data/llamacpp/models/evil/model.yml'), 'model_path: ../secret.gguf\n');
    await put(
      join(home, 'data/llamacpp/models/bomb/model.yml'),
      'a: &a llamacpp/models/x.gguf\nmodel_path: *a\n',
    );
    const found = await scan('jan', home, { JAN_DATA_FOLDER: join(home, 'data') });
    expect(ids(found)).toEqual(['evil']);
    expect(found.problems).toHaveLength(1);
    const registry = await temporaryRegistry();
    await expect(installCandidate(registry, found.candidates[0]!, {})).rejects.toThrow(
      'points outside the folder',
    );
  });
});

describe('discovering', () => {
  it('finds nothing and complains about nothing on a clean machine, and changes nothing anywhere', async () => {
    const home = await temporaryFolder();
    const before = (await stat(home)).mtimeMs;
    const scans = await discover({
      env: { OLLAMA_MODELS: join(home, 'none') },
      userHome: home,
      platform: 'linux',
    });
    expect(scans.flatMap((entry) => [...entry.candidates, ...entry.problems])).toEqual([]);
    expect((await stat(home)).mtimeMs).toBe(before);
  });

  it('takes a plain folder with one sub-folder per model', async () => {
    const folder = await temporaryFolder();
    await put(join(folder, 'one.gguf'), chatBytes(1));
    await put(join(folder, 'two/Two.gguf'), chatBytes(2));
    expect(ids(await scanFolder(folder))).toEqual(['one', 'two']);
  });
});
