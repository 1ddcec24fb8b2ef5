/** Names and files that want to reach something outside of the store, from every way in. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/lib/errors/svc-error.ts';
import { addAlias, removeModel, setParams } from '../../../src/store/install/changes.ts';
import { parseReference } from '../../../src/store/hub/reference.ts';
import { importFile } from '../../../src/store/install/import.ts';
import { fileNameToId, idToFileName, isModelId, toModelId } from '../../../src/store/files/model-id.ts';
import {
  blobPath,
  downloadPath,
  manifestPath,
  splitFolder,
  type StorePaths,
} from '../../../src/store/files/paths.ts';
import { verifyModel } from '../../../src/store/install/verify.ts';
import {
  chatBytes,
  chatParts,
  temporaryFolder,
  temporaryRegistry,
  writeChat,
} from '../../support/temp-home.ts';

const nasty = [
  '..',
  '.',
  '../x',
  '../../etc/passwd',
  'a/../b',
  'a/..',
  '/etc/passwd',
  '//x',
  'a//b',
  'C:\\x',
  '\\\\server\\share',
  'a\\b',
  '%2e%2e%2fx',
  '%2e%2e',
  'a%2fb',
  'a%3ab',
  '\u0000',
  'a\u0000b',
  'a\nb',
  '\u001b[31mx',
  'CON',
  'con',
  'nul.txt',
  'aux',
  'com1',
  'lpt9.x',
  'a/con',
  'a:nul',
  '/dev/random',
  'file:///etc/passwd',
  'x'.repeat(300),
  `${'x'.repeat(90)}/a`,
  '\u202egpj.exe',
  'é',
  'e\u0301',
  '\uFF0E\uFF0E\u2215x',
  '\u2024\u2024/x',
  'a.',
  'a./b',
  'a:b.',
  '.hidden',
  '-rf',
  '_x',
  'a b',
  'a*',
  'a?',
  'a|b',
  'a"b',
  '~',
  '$HOME',
  '`id`',
  'default',
  'default-embedding',
  'feature-hash-768',
  '',
  ' ',
  'a:b:c',
  'a/b/c',
  '__proto__',
  'constructor',
  'toString',
];
const hostileText = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom('.', '/', '\\', ':', '%', '2', 'e', 'f', 'a', 'A', '-', '_', '\u0000'),
    maxLength: 40,
  }),
);

describe('ids', () => {
  it('are none of the names that reach further than a file', () => {
    // The one exception is an ordinary word to a file system; manifests are never looked up as object members.
    for (const text of nasty.filter((name) => name !== 'constructor'))
      expect(isModelId(text), JSON.stringify(text)).toBe(false);
  });

  it('that are accepted name exactly one file, directly inside the folder, on every file system', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        if (!isModelId(text)) return;
        const name = idToFileName(text);
        expect(name).toMatch(/^[a-z0-9][a-z0-9._%-]*[a-z0-9_-]$|^[a-z0-9]$/);
        expect(Buffer.byteLength(name)).toBeLessThan(200);
        expect(fileNameToId(name)).toBe(text);
        expect(text).toBe(text.toLowerCase());
      }),
      { numRuns: 20_000 },
    );
  });

  it('made from any text are valid or none', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const id = toModelId(text);
        expect(id === null || isModelId(id)).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });

  it('never come from file names that ids do not make', () => {
    fc.assert(
      fc.property(hostileText, (name) => {
        const id = fileNameToId(name);
        if (id !== null) expect(idToFileName(id)).toBe(name);
      }),
      { numRuns: 20_000 },
    );
  });
});

const folderOf = (paths: StorePaths, digest: string) => splitFolder(paths, [digest]);

describe('paths', () => {
  it('are made of digests and ids only', async () => {
    const { paths } = (await temporaryRegistry()).store;
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const make of [blobPath, downloadPath, folderOf, manifestPath]) {
          let path: string;
          try {
            path = make(paths, text);
          } catch (error) {
            expect(isSvcError(error)).toBe(true);
            continue;
          }
          expect(path.startsWith(`${paths.root}/`)).toBe(true);
          expect(path.slice(paths.root.length + 1).split('/')).toHaveLength(2);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

describe('verbs', () => {
  it('refuse hostile names with a failure of their own and touch nothing outside of the store', async () => {
    const home = await temporaryFolder();
    const registry = await temporaryRegistry({ home: join(home, 'inner') });
    const path = await writeChat(await temporaryFolder());
    await importFile(registry, path, { id: 'good', copy: true });
    const before = await readdir(registry.store.paths.manifests);
    await fc.assert(
      fc.asyncProperty(hostileText, async (text) => {
        if (isModelId(text.toLowerCase()) || text === 'default') return;
        for (const use of [
          () => registry.find(text),
          () => registry.setDefault(text),
          () => removeModel(registry, text),
          () => addAlias(registry, 'good', text),
          () => setParams(registry, text, {}),
          () => verifyModel(registry, text),
          () => importFile(registry, path, { id: text }),
        ]) {
          const outcome = await use().then(
            () => 'accepted',
            (error: unknown) => error,
          );
          expect(isSvcError(outcome), JSON.stringify(text)).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
    expect(await readdir(registry.store.paths.manifests)).toEqual(before);
    expect(await readdir(home)).toEqual(['inner']);
    expect((await readdir(join(home, 'inner', 'store'))).sort()).toEqual([
      'blobs',
      'manifests',
      'partial',
      'split',
    ]);
  });

  it('read references of any text as a reference or as a failure', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          hostileText,
          hostileText.map((text) => `hf:a/b/${text}`),
          hostileText.map((text) => `https://huggingface.co/a/b/resolve/${text}`),
        ),
        (text) => {
          let parsed: ReturnType<typeof parseReference>;
          try {
            parsed = parseReference(text, 'https://huggingface.co');
          } catch (error) {
            expect(error).toMatchObject({ code: 'reference_invalid' });
            return;
          }
          expect(parsed.repo).toMatch(/^[\w.-]+\/[\w.-]+$/);
          for (const part of [
            ...parsed.repo.split('/'),
            ...(parsed.path ?? 'x').split('/'),
            ...(parsed.revision ?? 'x').split('/'),
          ])
            expect(['..', '.']).not.toContain(part);
        },
      ),
      { numRuns: 20_000 },
    );
  });
});

describe('files', () => {
  it('that are no plain GGUF files are refused at once, with the reason', async () => {
    const registry = await temporaryRegistry();
    const folder = await temporaryFolder();
    const make = async (name: string, content: Buffer | string) => {
      await writeFile(join(folder, name), content);
      return join(folder, name);
    };
    await mkdir(join(folder, 'folder.gguf'));
    execFileSync('mkfifo', [join(folder, 'fifo.gguf')]);
    await symlink(join(folder, 'loop.gguf'), join(folder, 'loop.gguf'));
    await symlink('/nowhere', join(folder, 'broken.gguf'));
    await truncate(await make('sparse.gguf', ''), 2 ** 40);
    await truncate(await make('sparse-gguf.gguf', chatBytes()), 2 ** 40);
    const cases: [string, string][] = [
      ['/dev/zero', 'file_unusable'],
      ['/dev/random', 'file_unusable'],
      [join(folder, 'fifo.gguf'), 'file_unusable'],
      [join(folder, 'folder.gguf'), 'file_unusable'],
      [join(folder, 'loop.gguf'), 'file_unusable'],
      [join(folder, 'broken.gguf'), 'file_not_found'],
      [join(folder, 'nothing.gguf'), 'file_not_found'],
      [`${join(folder, 'nul')}\u0000.gguf`, 'file_unusable'],
      [join(folder, 'sparse.gguf'), 'file_unusable'],
      [join(folder, 'sparse-gguf.gguf'), 'gguf_invalid'],
      [await make('empty.gguf', ''), 'file_unusable'],
      [await make('short.gguf', 'GGUF'), 'file_unusable'],
      [await make('page.gguf', '<!DOCTYPE html><p>no'), 'file_unusable'],
      [
        await make('pointer.gguf', 'version https://git-lfs.github.com/spec/v1\noid sha256:0'),
        'file_unusable',
      ],
      [await make('archive.gguf', gzipSync(chatBytes())), 'file_unusable'],
      [await make('zip.gguf', 'PK\u0003\u0004rest'), 'file_unusable'],
      [await make('half.gguf', chatBytes().subarray(0, 100_000)), 'gguf_invalid'],
      ['/etc/passwd', 'file_unusable'],
    ];
    for (const [path, code] of cases) {
      for (const way of [{}, { copy: true }])
        await expect(importFile(registry, path, { ...way, id: 'x' }), path).rejects.toMatchObject({ code });
    }
    expect(await registry.list()).toEqual([]);
  });

  it('that are embedding models of another width are taken, with their width', async () => {
    const { tinyEmbedContent } = await import('../../../tools/models/tiny-embed.ts');
    const { encodeGguf } = await import('../../../tools/gguf/writer.ts');
    const path = join(await temporaryFolder(), 'narrow.gguf');
    await writeFile(path, encodeGguf(tinyEmbedContent({ width: 384 })));
    const model = await importFile(await temporaryRegistry(), path, {});
    expect(model).toMatchObject({ kind: 'embedding', facts: { embeddingLength: 384, pooling: 'mean' } });
  });

  it('of a split model are taken only together', async () => {
    const folder = await temporaryFolder();
    const [first, second] = chatParts();
    const [one, two] = ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf'].map((name) => join(folder, name));
    const registry = await temporaryRegistry();
    await writeFile(one!, first);
    await expect(importFile(registry, one!, {})).rejects.toMatchObject({ code: 'file_not_found' });
    await writeFile(two!, chatBytes());
    await expect(importFile(registry, one!, {})).rejects.toMatchObject({ code: 'gguf_invalid' });
    await writeFile(two!, second);
    const model = await importFile(registry, two!, {});
    expect(model).toMatchObject({ id: 'm' });
    expect(registry.toTarget(model).source.path).toBe(one);
    await importFile(registry, one!, { id: 'copied', copy: true });
    await registry.toTarget(await registry.find('copied')).source.verify();
  });
});
