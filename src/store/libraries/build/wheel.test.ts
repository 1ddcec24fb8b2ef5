/** Wheels as zip archives, good and hostile. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/support/temp-home.ts';
import { unpackWheel } from './wheel.ts';

interface Item {
  readonly name: string;
  readonly text?: string;
  readonly mode?: number;
  readonly method?: number;
  readonly flags?: number;
  readonly crc?: number;
  readonly size?: number;
}

function zip(items: readonly Item[]): Buffer {
  const bodies: Buffer[] = [];
  const list: Buffer[] = [];
  let at = 0;
  for (const { name, text = '', mode = 0o100644, method = 8, flags = 0, ...other } of items) {
    const content = Buffer.from(text);
    const packed = method === 8 ? deflateRawSync(content) : content;
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(Buffer.byteLength(name), 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt8(3, 5);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(other.crc ?? crc32(content), 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(other.size ?? content.length, 24);
    entry.writeUInt16LE(Buffer.byteLength(name), 28);
    entry.writeUInt32LE((mode << 16) >>> 0, 38);
    entry.writeUInt32LE(at, 42);
    const body = Buffer.concat([head, Buffer.from(name), packed]);
    at += body.length;
    bodies.push(body);
    list.push(Buffer.concat([entry, Buffer.from(name)]));
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(items.length, 10);
  end.writeUInt32LE(Buffer.concat(list).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, ...list, end]);
}

async function unpacked(bytes: Buffer): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'tool.whl'), bytes);
  await unpackWheel(join(folder, 'tool.whl'), join(folder, 'tool'));
  return join(folder, 'tool');
}

it('a wheel is unpacked with its folders, and its programs can be run', async () => {
  const folder = await unpacked(
    zip([
      { name: 'zig/' },
      { name: 'zig/zig', text: 'program', mode: 0o100755 },
      { name: 'zig/lib/empty' },
      { name: 'zig/lib/stored', text: 'as it is', method: 0 },
    ]),
  );
  expect(await readFile(join(folder, 'zig', 'lib', 'stored'), 'utf8')).toBe('as it is');
  expect(await readFile(join(folder, 'zig', 'lib', 'empty'), 'utf8')).toBe('');
  if (process.platform === 'win32') return;
  expect((await stat(join(folder, 'zig', 'zig'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, 'zig', 'lib', 'stored'))).mode & 0o777).toBe(0o600);
});

const whole = zip([{ name: 'a', text: 'some content' }]);

it.each([
  ['leads out of its folder', zip([{ name: '../a', text: 'x' }]), 'outside of its folder'],
  ['is absolute', zip([{ name: '/etc/a', text: 'x' }]), 'outside of its folder'],
  ['is a path of Windows', zip([{ name: 'C:\\a', text: 'x' }]), 'outside of its folder'],
  ['is a link', zip([{ name: 'a', text: '/etc/passwd', mode: 0o120777 }]), 'is not a plain file'],
  ['is encrypted', zip([{ name: 'a', text: 'x', flags: 1 }]), 'is encrypted'],
  ['is packed otherwise', zip([{ name: 'a', text: 'x', method: 12 }]), 'in an unknown way'],
  ['has another hash', zip([{ name: 'a', text: 'x', crc: 1 }]), 'is damaged'],
  ['is said to be huge', zip([{ name: 'a', text: 'x', size: 0xfffffffe }]), 'is too large'],
  [
    'unpacks to more than it says',
    zip([{ name: 'a', text: 'x'.repeat(1000), size: 1 }]),
    /too large|larger than/i,
  ],
  [
    'comes twice',
    zip([
      { name: 'a', text: 'x' },
      { name: 'a', text: 'y' },
    ]),
    'cannot be written (EEXIST)',
  ],
  ['is cut off', whole.subarray(0, whole.length - 1), 'is not a zip archive'],
  ['is no archive', Buffer.from('no archive'), 'is not a zip archive'],
])('an entry that %s is refused', async (_, bytes, reason) => {
  await expect(unpacked(bytes)).rejects.toThrow(reason);
});
