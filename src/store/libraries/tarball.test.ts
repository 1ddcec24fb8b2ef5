import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packed } from '../../../test/support/hub/fake-registry.ts';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { unpackTarball } from './tarball.ts';

interface Given {
  readonly name: string;
  readonly kind?: string;
  readonly text?: string;
  readonly prefix?: string;
}

function header({ name, kind = '0', text = '', prefix = '' }: Given): Buffer {
  const block = Buffer.alloc(512);
  block.write(name, 0);
  block.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124);
  block.write(kind, 156);
  block.write('ustar\u000000', 257);
  block.write(prefix, 345);
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function archive(...entries: readonly Given[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const text = Buffer.from(entry.text ?? '');
    return [header(entry), text, Buffer.alloc((512 - (text.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

async function unpack(bytes: Buffer, only?: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'a.tgz'), bytes);
  await unpackTarball(join(folder, 'a.tgz'), join(folder, 'out'), only);
  return join(folder, 'out');
}

describe('an archive of npm', () => {
  it('becomes its files, without the folder that all of them lie in', async () => {
    const out = await unpack(packed('linux-x64-gpu'));
    expect((await readdir(out)).toSorted()).toEqual(['bins', 'package.json']);
  });

  it('is unpacked in part where only one folder is wanted', async () => {
    const out = await unpack(packed('linux-x64-gpu'), 'bins');
    expect(await readdir(out)).toEqual(['bins']);
  });

  it('may name a long path in two parts, and folders of their own', async () => {
    const out = await unpack(
      archive(
        { name: 'package/', kind: '5' },
        { prefix: 'package/deep', name: 'file', text: 'x'.repeat(513) },
      ),
    );
    expect(await readFile(join(out, 'deep', 'file'), 'utf8')).toBe('x'.repeat(513));
  });

  it.each<[string, Given, string]>([
    ['above its folder', { name: 'package/../../evil' }, 'outside of its folder'],
    ['of another drive', { name: 'package/c:evil' }, 'outside of its folder'],
    ['with no folder', { name: 'evil' }, 'outside of its folder'],
    ['that is a link', { name: 'package/evil', kind: '2' }, 'an entry of kind "2"'],
  ])('is refused for a file %s', async (_, entry, reason) => {
    await expect(unpack(archive({ name: 'package/good', text: 'g' }, entry))).rejects.toThrow(reason);
  });

  it('stays below its folder with a name that begins at the root', async () => {
    const out = await unpack(archive({ name: '/etc/passwd', text: 'x' }));
    expect(await readFile(join(out, 'etc', 'passwd'), 'utf8')).toBe('x');
  });

  it('is refused when it is cut off, damaged, or nothing of the kind', async () => {
    await expect(unpack(gzipSync(header({ name: 'package/a', text: 'abc' })))).rejects.toThrow(
      'ends too early',
    );
    await expect(unpack(packed('linux-x64-gpu').subarray(0, 300))).rejects.toThrow();
    await expect(unpack(gzipSync(Buffer.alloc(512, 'x')))).rejects.toThrow('not a tar archive');
    await expect(unpack(Buffer.from('plain text'))).rejects.toThrow();
  });
});
