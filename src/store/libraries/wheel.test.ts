/** Wheels as zip archives, good and hostile. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { zip } from '../../../test/support/zip.ts';
import { unpackWheel } from './wheel.ts';

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
