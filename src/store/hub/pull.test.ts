import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeModel } from '../install/changes.ts';
import { type Inspect, inspectModel } from '../install/inspection.ts';
import { blobPath, downloadPath } from '../files/paths.ts';
import { COMMIT, sendError, sha256, startFakeHub } from '../../../test/support/hub/fake-hub.ts';
import { pullAll, pullOne } from '../../../test/support/hub/pulling.ts';
import { encodeGguf } from '../../../tools/gguf/writer.ts';
import { projectorContent } from '../../../tools/models/tiny-projector.ts';
import { chatBytes, chatParts, temporaryFolder, temporaryRegistry } from '../../../test/support/temp-home.ts';

const Q4 = chatBytes(4);
const Q8 = chatBytes(8);
const repoFiles = {
  'README.md': Buffer.from('hello'),
  'Tiny-Q8_0.gguf': Q8,
  'Tiny-Q4_K_M.gguf': Q4,
};

describe('pulling a model', () => {
  it('pins the commit, verifies the bytes and installs the usual quant', async () => {
    const hub = await startFakeHub(repoFiles);
    const registry = await temporaryRegistry();
    const model = await pullOne(registry, 'hf:Some/Model-GGUF', hub.access);
    expect(model).toMatchObject({
      id: 'some/model-gguf:q4_k_m',
      kind: 'chat',
      ownedBy: 'hf:Some',
      aliases: ['Some/Model-GGUF:Q4_K_M', 'Some/Model-GGUF'],
      source: { type: 'hf', repo: 'Some/Model-GGUF', commit: COMMIT },
      files: [{ role: 'model', digest: sha256(Q4), sizeBytes: Q4.length }],
    });
    const target = registry.toTarget(model).source;
    await target.verify();
    expect((await readFile(target.path)).equals(Q4)).toBe(true);
    expect(await readdir(registry.store.paths.partial)).toEqual([]);
    expect((await registry.resolve('some/model-gguf', 'chat')).id).toBe(model.id);
  });

  it('takes along what lets it read images, the finest that is no F32', async () => {
    const [f32, f16] = [encodeGguf(projectorContent({ seed: 1 })), encodeGguf(projectorContent({ seed: 2 }))];
    const hub = await startFakeHub({ ...repoFiles, 'mmproj-F32.gguf': f32, 'mmproj-F16.gguf': f16 });
    const registry = await temporaryRegistry();
    const model = await pullOne(registry, 'hf:Some/Model-GGUF', hub.access);
    expect(model.files).toMatchObject([
      { role: 'model', digest: sha256(Q4) },
      { role: 'mmproj', digest: sha256(f16) },
    ]);
    expect(model.facts).toMatchObject({
      sizeBytes: Q4.length,
      projector: { type: 'gemma3', image: true, audio: false },
    });
    const { source, capabilities } = registry.toTarget(model);
    await source.verify();
    expect(capabilities.media).toEqual(['image']);
    expect((await readFile(source.attached.projector?.path ?? '')).equals(f16)).toBe(true);
    expect(await readdir(registry.store.paths.partial)).toEqual([]);
  });

  it('does without a projector that is none', async () => {
    const hub = await startFakeHub({ ...repoFiles, 'mmproj-F16.gguf': Q8 });
    const registry = await temporaryRegistry();
    const events = await pullAll(registry, 'hf:Some/Model-GGUF', hub.access);
    expect(events).toContainEqual(expect.objectContaining({ status: 'left out', file: 'mmproj-F16.gguf' }));
    const model = await registry.find('some/model-gguf:q4_k_m');
    expect(model.files).toHaveLength(1);
    expect(registry.toTarget(model).capabilities.media).toBeUndefined();
    expect(await readdir(registry.store.paths.partial)).toEqual([]);
  });

  it.each([
    ['Some/Model-GGUF:q8_0', 'q8_0'],
    ['hf.co/Some/Model-GGUF:Q8_0', 'q8_0'],
    ['hf:Some/Model-GGUF/Tiny-Q8_0.gguf', 'q8_0'],
    ['https://huggingface.co/Some/Model-GGUF/resolve/main/Tiny-Q8_0.gguf?download=true', 'q8_0'],
    ['https://hf.co/Some/Model-GGUF/blob/main/Tiny-Q8_0.gguf', 'q8_0'],
    ['https://huggingface.co/Some/Model-GGUF', 'q4_k_m'],
    [`some/model-gguf#${COMMIT}`, 'q4_k_m'],
  ])('understands %s', async (ref, quant) => {
    const repo = ref.startsWith('some/') ? 'some/model-gguf' : 'Some/Model-GGUF';
    const hub = await startFakeHub(repoFiles, repo);
    const registry = await temporaryRegistry();
    expect((await pullOne(registry, ref, hub.access)).id).toBe(`some/model-gguf:${quant}`);
  });

  it('lists the choices when a quant is missing, and leaves nothing behind', async () => {
    const hub = await startFakeHub(repoFiles);
    const registry = await temporaryRegistry();
    await expect(pullAll(registry, 'Some/Model-GGUF:Q2_K', hub.access)).rejects.toThrow(
      'Some/Model-GGUF has no GGUF Q2_K; available: Q4_K_M, Q8_0.',
    );
    expect(hub.requests('cdn')).toEqual([]);
  });

  it('follows pages of a long listing', async () => {
    const hub = await startFakeHub({
      ...Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`x${n}.txt`, Buffer.from('x')])),
      'z-Q4_0.gguf': Q4,
    });
    hub.pageSize = 3;
    const registry = await temporaryRegistry();
    expect((await pullOne(registry, 'Some/Model-GGUF', hub.access)).id).toBe('some/model-gguf:q4_0');
  });

  it('verifies a small file that lies in git by the hash of git', async () => {
    const hub = await startFakeHub({ 'small.gguf': { content: Q4, lfs: false } });
    const registry = await temporaryRegistry();
    expect((await pullOne(registry, 'Some/Model-GGUF', hub.access)).files).toMatchObject([
      { digest: sha256(Q4) },
    ]);
    const liar = await startFakeHub({ 'small.gguf': { content: Q4, lfs: false } });
    liar.onCdn = (_request, response) => {
      response.end(Q8);
      return true;
    };
    await expect(pullAll(await temporaryRegistry(), 'Some/Model-GGUF', liar.access)).rejects.toMatchObject({
      code: 'digest_mismatch',
    });
  });

  it('downloads nothing twice: neither what is installed nor what another repository shares', async () => {
    const registry = await temporaryRegistry();
    const hub = await startFakeHub(repoFiles);
    await pullOne(registry, 'Some/Model-GGUF', hub.access);
    await pullOne(registry, 'Some/Model-GGUF', hub.access);
    const copy = await startFakeHub({ 'Same-Q4_K_M.gguf': Q4 }, 'other/copy');
    await pullOne(registry, 'other/copy', copy.access);
    expect(hub.requests('cdn')).toHaveLength(1);
    expect(copy.requests('cdn')).toEqual([]);
    await removeModel(registry, 'some/model-gguf:q4_k_m');
    await registry.toTarget(await registry.find('other/copy')).source.verify();
  });

  it.each(['while the model is inspected', 'in the last moment before the commit'])(
    'installs nothing when a blob that it shares is removed %s',
    async (moment) => {
      let armed = false;
      const onStep = async (step: string) => {
        if (armed && step === 'lock.taken') await rm(blobPath(registry.store.paths, sha256(Q4)));
      };
      const registry = await temporaryRegistry({ onStep });
      const hub = await startFakeHub(repoFiles);
      const copy = await startFakeHub({ 'Same-Q4_K_M.gguf': Q4 }, 'other/copy');
      await pullOne(registry, 'other/copy', copy.access);
      const inspect: Inspect = async (paths) => {
        if (moment.startsWith('while')) await removeModel(registry, 'other/copy:q4_k_m');
        else armed = true;
        return inspectModel(paths);
      };
      await expect(pullAll(registry, 'Some/Model-GGUF', { ...hub.access, inspect })).rejects.toThrow(
        'run the command again',
      );
      armed = false;
      expect((await registry.list()).map((model) => model.id)).not.toContain('some/model-gguf:q4_k_m');
      await pullOne(registry, 'Some/Model-GGUF', hub.access);
    },
  );

  it('fetches a damaged blob anew', async () => {
    const registry = await temporaryRegistry();
    const hub = await startFakeHub(repoFiles);
    await pullOne(registry, 'Some/Model-GGUF', hub.access);
    const path = blobPath(registry.store.paths, sha256(Q4));
    await writeFile(path, Q8);
    const model = await pullOne(registry, 'Some/Model-GGUF', hub.access);
    await registry.toTarget(model).source.verify();
    expect((await readFile(path)).equals(Q4)).toBe(true);
  });

  it('takes all parts of a split model and keeps their names for the engine', async () => {
    const [one, two] = chatParts();
    const hub = await startFakeHub({
      'q/Big-Q4_0-00001-of-00002.gguf': one,
      'q/Big-Q4_0-00002-of-00002.gguf': two,
    });
    const registry = await temporaryRegistry();
    const model = await pullOne(registry, 'Some/Model-GGUF:Q4_0', hub.access);
    const { path, weightsBytes, verify } = registry.toTarget(model).source;
    await verify();
    expect(weightsBytes).toBe(one.length + two.length);
    expect(path).toMatch(/model-00001-of-00002\.gguf$/);
    expect((await readFile(path)).equals(one)).toBe(true);
    expect((await readFile(path.replace('00001-of', '00002-of'))).equals(two)).toBe(true);
    await rm(path);
    await verify();
    expect((await stat(path)).size).toBe(one.length);
    await removeModel(registry, model.id);
    expect(await readdir(registry.store.paths.blobs)).toEqual([]);
    expect(await readdir(registry.store.paths.split)).toEqual([]);
  });

  it('refuses parts that do not belong together', async () => {
    const [one, two] = chatParts();
    const pairs = [
      [one, one],
      [one, chatBytes()],
      [chatBytes(), two],
      [two, one],
    ] as const;
    for (const [first, second] of pairs) {
      const hub = await startFakeHub({ 'x-00001-of-00002.gguf': first, 'x-00002-of-00002.gguf': second });
      const registry = await temporaryRegistry();
      await expect(pullAll(registry, 'Some/Model-GGUF', hub.access)).rejects.toMatchObject({
        code: 'gguf_invalid',
      });
      expect(await readdir(registry.store.paths.partial)).toEqual([]);
    }
  });

  it('refuses a split model with a missing part before downloading', async () => {
    const hub = await startFakeHub({ 'Big-00001-of-00002.gguf': Q4 });
    await expect(pullAll(await temporaryRegistry(), 'Some/Model-GGUF', hub.access)).rejects.toMatchObject({
      code: 'quant_not_found',
    });
  });

  it('tells progress as plain events that end in success', async () => {
    const hub = await startFakeHub(repoFiles);
    const events = await pullAll(await temporaryRegistry(), 'Some/Model-GGUF:Q8_0', hub.access);
    expect(events.map((event) => event.status)).toEqual(
      expect.arrayContaining([
        'resolving',
        'resolved',
        'downloading',
        'inspecting',
        'writing manifest',
        'success',
      ]),
    );
    const progress = events.filter((event) => event.status === 'downloading');
    expect(progress.at(-1)).toMatchObject({
      completed: Q8.length,
      total: Q8.length,
      digest: `sha256:${sha256(Q8)}`,
    });
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
  });
});

describe('answers of the hub', () => {
  it.each([
    [401, 'GatedRepo', 'hub_gated'],
    [403, 'GatedRepo', 'hub_gated'],
    [401, 'RepoNotFound', 'hub_not_found'],
    [404, 'RepoNotFound', 'hub_not_found'],
    [404, 'RevisionNotFound', 'hub_not_found'],
    [403, '', 'hub_unauthorized'],
    [401, '', 'hub_unauthorized'],
    [418, '', 'hub_invalid'],
    [500, '', 'hub_unreachable'],
  ])('%i %s is %s', async (status, code, expected) => {
    const hub = await startFakeHub(repoFiles);
    hub.onHub = (_request, response) => {
      sendError(response, status, code);
      return true;
    };
    await expect(pullAll(await temporaryRegistry(), 'Some/Model-GGUF', hub.access)).rejects.toMatchObject({
      code: expected,
    });
  });

  it('waits as long as a rate limit asks, and says so when that is too long', async () => {
    const hub = await startFakeHub(repoFiles);
    let refused = 0;
    hub.onHub = (_request, response) => {
      refused += 1;
      if (refused <= 2)
        sendError(response, 429, '', refused === 1 ? { 'retry-after': '0' } : { ratelimit: '"api";r=0;t=0' });
      return refused <= 2;
    };
    await pullOne(await temporaryRegistry(), 'Some/Model-GGUF', hub.access);
    hub.onHub = (_request, response) => {
      sendError(response, 429, '', { 'retry-after': '3600' });
      return true;
    };
    const failure = pullAll(await temporaryRegistry(), 'Some/Model-GGUF', hub.access);
    await expect(failure).rejects.toMatchObject({ code: 'hub_rate_limited', detail: { retryAfterS: 3600 } });
  });

  it('asks nobody in offline mode or for a reference that is none', async () => {
    const hub = await startFakeHub(repoFiles);
    const registry = await temporaryRegistry();
    await expect(
      pullAll(registry, 'Some/Model-GGUF', { ...hub.access, offline: true }),
    ).rejects.toMatchObject({
      code: 'hub_offline',
    });
    for (const ref of [
      '',
      'llama3',
      'a/b/c',
      'a/b:Q4:x',
      'a/../b',
      'https://evil.example/a/b',
      'a/b#../x',
      'a/b/../../x.gguf',
      `a/${'b'.repeat(300)}`,
      'a /b',
      'a/b\u202e',
      '-a/b',
    ])
      await expect(pullAll(registry, ref, hub.access)).rejects.toMatchObject({ code: 'reference_invalid' });
    expect(hub.seen).toEqual([]);
  });
});

describe('an interrupted pull', () => {
  it('resumes from the bytes on disk after re-hashing them', async () => {
    const hub = await startFakeHub(repoFiles);
    const registry = await temporaryRegistry({ home: await temporaryFolder() });
    await registry.store.prepareFolders();
    const half = Q4.subarray(0, Q4.length >> 1);
    await writeFile(downloadPath(registry.store.paths, sha256(Q4)), half);
    const events = await pullAll(registry, 'Some/Model-GGUF', hub.access);
    expect(hub.requests('cdn').map((request) => request.headers.range)).toEqual([`bytes=${half.length}-`]);
    expect(events.find((event) => event.status === 'verifying')).toMatchObject({ completed: half.length });
  });

  it('leaves a resumable partial file when it is abandoned', async () => {
    const hub = await startFakeHub(repoFiles);
    const registry = await temporaryRegistry();
    hub.onCdn = (_request, response) => {
      response.writeHead(200, { 'content-length': Q4.length });
      response.write(Q4.subarray(0, 300_000));
      return true;
    };
    const controller = new AbortController();
    const onStep = async (step: string) => {
      if (step === 'download.chunk') controller.abort();
    };
    const interrupted = await temporaryRegistry({
      home: registry.store.paths.root.replace(/\/store$/, ''),
      onStep,
    });
    await expect(
      pullAll(interrupted, 'Some/Model-GGUF', { ...hub.access, signal: controller.signal }),
    ).rejects.toThrow();
    expect((await stat(downloadPath(registry.store.paths, sha256(Q4)))).size).toBeGreaterThan(0);
    hub.onCdn = () => false;
    await pullOne(registry, 'Some/Model-GGUF', hub.access);
    expect(hub.requests('cdn').at(-1)?.headers.range).toMatch(/^bytes=\d+-$/);
  });

  it('is joined, not repeated, by a second pull of the same file', async () => {
    const hub = await startFakeHub(repoFiles);
    const home = await temporaryFolder();
    const pulls = [1, 2, 3].map(async () =>
      pullOne(await temporaryRegistry({ home }), 'Some/Model-GGUF', hub.access),
    );
    const [one, two, three] = await Promise.all(pulls);
    expect(two).toEqual(one);
    expect(three?.files).toEqual(one?.files);
    expect(hub.requests('cdn')).toHaveLength(1);
    expect(await readdir(join(home, 'store/partial'))).toEqual([]);
  });
});
