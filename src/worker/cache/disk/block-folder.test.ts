/** Files of state on a real disk: what was written comes back, and nothing else ever does. */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlockFolder, Staging, type StoredBlock } from './block-folder.ts';
import { type BlockHeader, tokensText } from './block-header.ts';
import { type FileKey, headerEnd } from './encrypted-file.ts';

const KEY: FileKey = { secret: Buffer.alloc(32, 1), belongsTo: 'a'.repeat(32) };
const rows = randomBytes(5_000);
const none = async (): Promise<void> => {};

let folder: string;
let log: string[];

beforeEach(async () => {
  log = [];
  folder = path.join(await mkdtemp(path.join(tmpdir(), 'hearth-blocks-')), 'cache', 'kind');
});
afterEach(() => rm(path.dirname(path.dirname(folder)), { recursive: true, force: true }));

function header(fields: Partial<BlockHeader> = {}): BlockHeader {
  const layout = {
    magic: 1,
    streams: 1,
    transposed: false,
    keys: [[1, 8] as [number, number]],
    values: [[1, 8]],
  };
  return {
    parent: null,
    start: 0,
    tokens: tokensText(Uint32Array.of(1, 2, 3)),
    owner: 'me',
    layout,
    rowBytes: rows.length,
    savesMs: 12,
    ...fields,
  };
}

async function written(): Promise<StoredBlock> {
  const blocks = new BlockFolder(folder, KEY, (line) => log.push(line));
  await blocks.scan();
  return blocks.write(header(), [rows], none);
}

/** What a process that starts now gets of a file; null: nothing. */
async function readBack(key: FileKey = KEY, owner?: string): Promise<Buffer | null> {
  const blocks = new BlockFolder(folder, key, (line) => log.push(line));
  const [stored] = await blocks.scan();
  const block =
    stored === undefined || owner === undefined ? stored : { ...stored, header: { ...stored.header, owner } };
  const encrypted = block === undefined ? null : await blocks.fetch(block, new Staging());
  if (block === undefined || encrypted === null) return null;
  let found: Uint8Array = new Uint8Array();
  const isProven = blocks.open(block, encrypted, (next) => {
    found = Buffer.concat([next(1_000), next(block.header.rowBytes - 1_000)]);
  });
  return isProven ? Buffer.from(found) : null;
}

describe('a file of the prompt cache', () => {
  it('comes back as it was written, and shows neither tokens nor state', async () => {
    const { id } = await written();
    expect((await readBack())?.equals(rows)).toBe(true);
    const bytes = await readFile(path.join(folder, `${id}.kv`));
    expect(bytes.includes(rows.subarray(0, 32))).toBe(false);
    expect(bytes.includes(tokensText(Uint32Array.of(1, 2, 3)))).toBe(false);
  });

  it('is nobody else’s to read', async () => {
    const { id } = await written();
    expect((await stat(path.join(folder, `${id}.kv`))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['of another home', { ...KEY, secret: Buffer.alloc(32, 2) }],
    ['of another model or engine', { ...KEY, belongsTo: 'b'.repeat(32) }],
  ])('%s is not used, and is removed', async (_, key) => {
    await written();
    expect(await readBack(key)).toBeNull();
    expect(await readdir(folder)).toEqual([]);
  });

  it('does not open for another owner', async () => {
    await written();
    expect((await readBack(KEY, 'me'))?.length).toBe(rows.length);
    expect(await readBack(KEY, 'you')).toBeNull();
  });

  it('is never used once a bit of it has changed', async () => {
    const { id } = await written();
    const file = path.join(folder, `${id}.kv`);
    const whole = await readFile(file);
    // All of the header, which says what tokens the state is of, and here and there in the rows.
    const head = Array.from({ length: headerEnd(whole) ?? 0 }, (_, at) => at);
    const inRows = Array.from({ length: 40 }, (_, i) => head.length + i * 101);
    expect(head.length).toBeGreaterThan(200);
    for (const place of [...head, ...inRows, whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[place] = (damaged[place] ?? 0) ^ (1 << (place % 8));
      await writeFile(file, damaged);
      expect(await readBack(), `bit in byte ${place}`).toBeNull();
    }
  });

  it('is never used once it was cut or made longer', async () => {
    const { id } = await written();
    const file = path.join(folder, `${id}.kv`);
    const whole = await readFile(file);
    for (const length of [0, 5, 44, 200, whole.length - 16, whole.length - 1]) {
      await writeFile(file, whole.subarray(0, length));
      expect(await readBack(), `${length} bytes`).toBeNull();
    }
    await writeFile(file, Buffer.concat([whole, Buffer.alloc(1)]));
    expect(await readBack()).toBeNull();
  });

  it('does not open behind the header of another', async () => {
    const one = await written();
    const blocks = new BlockFolder(folder, KEY, (line) => log.push(line));
    const other = await blocks.write(
      header({ tokens: tokensText(Uint32Array.of(9, 9, 9)) }),
      [randomBytes(rows.length)],
      none,
    );
    const [first, second] = await Promise.all(
      [one, other].map(({ id }) => readFile(path.join(folder, `${id}.kv`))),
    );
    const end = first?.length ?? 0;
    const spliced = Buffer.concat([
      first?.subarray(0, end - rows.length - 16) ?? '',
      second?.subarray(-rows.length - 16) ?? '',
    ] as Buffer[]);
    await rm(path.join(folder, `${other.id}.kv`));
    await writeFile(path.join(folder, `${one.id}.kv`), spliced);
    expect(await readBack()).toBeNull();
  });

  it('that a save did not finish is not there', async () => {
    const blocks = new BlockFolder(folder, KEY, (line) => log.push(line));
    await blocks.scan();
    const stop = async (): Promise<void> => {
      throw new Error('stopped');
    };
    await expect(blocks.write(header(), [rows], stop)).rejects.toThrow('stopped');
    expect(await readdir(folder)).toEqual([]);
  });

  it('that nobody used for a week is removed', async () => {
    const { id } = await written();
    const longAgo = new Date(Date.now() - 8 * 24 * 3_600_000);
    await utimes(path.join(folder, `${id}.kv`), longAgo, longAgo);
    expect(await readBack()).toBeNull();
    expect(await readdir(folder)).toEqual([]);
  });

  it('that a killed process left half written is removed', async () => {
    await written();
    const leftover = path.join(folder, `.${'c'.repeat(32)}.tmp-999999999-0123456789ab`);
    await (await open(leftover, 'wx')).close();
    expect((await readBack())?.equals(rows)).toBe(true);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('that cannot be removed is reported once', async () => {
    await mkdir(path.join(folder, `${'a'.repeat(32)}.kv`, 'x'), { recursive: true });
    await mkdir(path.join(folder, `${'b'.repeat(32)}.kv`, 'x'), { recursive: true });
    expect(await readBack()).toBeNull();
    expect(log).toEqual([expect.stringMatching(/^The prompt cache takes more of the disk than it may: /)]);
  });
});
