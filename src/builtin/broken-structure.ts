/** Mutations 1 to 19: files whose structure lies about itself. */
import { gzipSync } from 'node:zlib';
import { encodeScalar, encodeText, scalars, text, u32 } from '../gguf/metadata.ts';
import type { BrokenGguf } from './broken-gguf.ts';
import { entry, putTogether, type RawGguf, type RawTensor, takeApart } from './raw-gguf.ts';
import { soundBytes, soundContent } from './sound-base.ts';

const U64_MAX = 2n ** 64n - 1n;
const ARRAY = 9;

export function brokenStructure(): BrokenGguf[] {
  return [...wrongFiles(), ...wrongCounts(), ...wrongEntries(), ...wrongTensors(), ...wrongPlaces()];
}

function raw(mutation: number, name: string, change: (parts: RawGguf) => void): BrokenGguf {
  const bytes = (): Buffer => {
    const parts = takeApart(soundContent());
    change(parts);
    return putTogether(parts);
  };
  return { mutation, name, bytes };
}

function plain(mutation: number, name: string, bytes: () => Buffer): BrokenGguf {
  return { mutation, name, bytes };
}

function patched(mutation: number, name: string, at: number, patch: Buffer): BrokenGguf {
  return plain(mutation, name, () =>
    Buffer.concat([soundBytes().subarray(0, at), patch, soundBytes().subarray(at + patch.length)]),
  );
}

const LFS_POINTER =
  'version https://git-lfs.github.com/spec/v1\n' +
  `oid sha256:${'0123456789abcdef'.repeat(4)}\nsize 668788096\n`;

function wrongFiles(): BrokenGguf[] {
  return [
    plain(1, 'empty', () => Buffer.alloc(0)),
    plain(1, 'three-bytes', () => Buffer.from('GGU')),
    plain(1, 'magic-only', () => Buffer.from('GGUF')),
    plain(1, 'twenty-three-bytes', () => soundBytes().subarray(0, 23)),
    patched(2, 'magic-fugg', 0, Buffer.from('FUGG')),
    patched(2, 'magic-ggml', 0, Buffer.from('GGML')),
    plain(2, 'web-page', () => Buffer.from('<!DOCTYPE html><html><body>Sign in</body></html>')),
    plain(2, 'lfs-pointer', () => Buffer.from(LFS_POINTER)),
    plain(2, 'gzip', () => gzipSync(soundBytes())),
    ...[0, 1, 4, 0x0300_0000].map((version) => {
      return raw(3, `version-${version}`, (parts) => void (parts.version = version));
    }),
  ];
}

function wrongCounts(): BrokenGguf[] {
  return [
    raw(4, 'tensor-count-max', (parts) => void (parts.tensorCount = U64_MAX)),
    raw(4, 'tensor-count-2-40', (parts) => void (parts.tensorCount = 2n ** 40n)),
    raw(5, 'entry-count-max', (parts) => void (parts.entryCount = U64_MAX)),
    patched(6, 'key-length-max', 24, encodeScalar('u64', U64_MAX)),
    plain(6, 'key-length-2-30-in-100-bytes', () => {
      return Buffer.concat([
        soundBytes().subarray(0, 24),
        encodeScalar('u64', 2n ** 30n),
        Buffer.alloc(68, 'a'),
      ]);
    }),
    ...[U64_MAX, 2n ** 30n].map((length) => {
      return raw(6, `text-length-${length}`, (parts) => {
        parts.entries[0] = Buffer.concat([
          encodeText('general.name'),
          encodeScalar('u32', 8),
          encodeScalar('u64', length),
          Buffer.from('x'),
        ]);
      });
    }),
    plain(7, 'empty-key', () => {
      const counts = [encodeScalar('u64', 0), encodeScalar('u64', 1), encodeScalar('u64', 0)];
      return Buffer.concat([soundBytes().subarray(0, 8), ...counts, encodeScalar('u32', 0), Buffer.alloc(1)]);
    }),
  ];
}

function wrongEntries(): BrokenGguf[] {
  const withEntry = (mutation: number, name: string, ...added: Buffer[]): BrokenGguf => {
    return raw(mutation, name, (parts) => void parts.entries.push(...added));
  };
  const typed = (key: string, type: number, ...rest: Buffer[]): Buffer => {
    return Buffer.concat([encodeText(key), encodeScalar('u32', type), ...rest]);
  };
  const array = (of: number, count: bigint): Buffer => {
    return typed('extra.list', ARRAY, encodeScalar('u32', of), encodeScalar('u64', count));
  };
  const nest = Buffer.concat([encodeScalar('u32', ARRAY), encodeScalar('u64', 1)]);
  return [
    withEntry(8, 'duplicate-key', entry('general.name', text('again'))),
    withEntry(8, 'duplicate-architecture', entry('general.architecture', text('bert'))),
    raw(9, 'two-hundred-thousand-keys', (parts) => {
      parts.entries = Array.from({ length: 200_000 }, (_, index) => entry(`k${index}`, u32(index)));
    }),
    withEntry(10, 'value-type-13', typed('extra', 13, Buffer.alloc(8))),
    withEntry(10, 'value-type-max', typed('extra', 0xffff_ffff, Buffer.alloc(8))),
    withEntry(10, 'nested-arrays', typed('extra', ARRAY, ...Array.from({ length: 10_000 }, () => nest))),
    withEntry(11, 'array-u8-2-62', array(0, 2n ** 62n)),
    withEntry(11, 'array-text-2-62', array(8, 2n ** 62n)),
    withEntry(11, 'array-longer-than-file', array(4, 1_000_000n)),
    withEntry(12, 'alignment-0', entry('general.alignment', u32(0))),
    withEntry(12, 'alignment-3', entry('general.alignment', u32(3))),
    withEntry(12, 'alignment-2-31', entry('general.alignment', u32(2 ** 31))),
    withEntry(12, 'alignment-i32', entry('general.alignment', { type: 'i32', value: 32 })),
    withEntry(12, 'alignment-array', entry('general.alignment', scalars('u32', [32]))),
  ];
}

function tensor(mutation: number, name: string, change: (tensor: RawTensor) => void): BrokenGguf {
  return raw(mutation, name, (parts) => {
    const first = parts.tensors[0];
    if (first) change(first);
  });
}

function wrongTensors(): BrokenGguf[] {
  return [
    tensor(13, 'five-dimensions', (first) =>
      Object.assign(first, { dimCount: 5, dims: [64n, 462n, 1n, 1n, 1n] }),
    ),
    tensor(13, 'dimension-count-max', (first) => void (first.dimCount = 0xffff_ffff)),
    tensor(14, 'dimension-minus-1', (first) => void (first.dims = [-1n, 462n])),
    tensor(14, 'dimension-0', (first) => void (first.dims = [64n, 0n])),
    tensor(15, 'elements-overflow', (first) => void (first.dims = [2n ** 32n, 2n ** 32n])),
    tensor(15, 'padding-wraps', (first) =>
      Object.assign(first, { dimCount: 1, dims: [2n ** 63n - 3n], typeCode: 24 }),
    ),
    tensor(15, 'exabyte', (first) => Object.assign(first, { dims: [2n ** 40n, 2n ** 20n], typeCode: 2 })),
    tensor(16, 'type-count', (first) => void (first.typeCode = 43)),
    tensor(16, 'type-minus-1', (first) => void (first.typeCode = 0xffff_ffff)),
    tensor(16, 'type-removed', (first) => void (first.typeCode = 4)),
    tensor(16, 'type-repacked', (first) => void (first.typeCode = 31)),
    tensor(16, 'row-not-in-blocks', (first) => Object.assign(first, { dims: [33n, 462n], typeCode: 8 })),
    tensor(19, 'name-64-bytes', (first) => void (first.name = Buffer.alloc(64, 'n'))),
    tensor(19, 'name-empty', (first) => void (first.name = Buffer.alloc(0))),
    tensor(19, 'name-with-nul', (first) => void (first.name = Buffer.from('token_embd\0.weight'))),
    tensor(19, 'name-not-utf8', (first) => void (first.name = Buffer.from([0x74, 0xff, 0xfe]))),
    tensor(19, 'token-embedding-missing', (first) => void (first.name = Buffer.from('cls.weight'))),
    tensor(19, 'tensor-foreign', (first) => void (first.name = Buffer.from('v.patch_embd.weight'))),
    raw(19, 'tensor-extra', (parts) => {
      const place = { dimCount: 1, dims: [8n], typeCode: 0, offset: BigInt(parts.data.length) };
      parts.tensors.push({ name: Buffer.from('extra.weight'), ...place });
      parts.data = Buffer.concat([parts.data, Buffer.alloc(32)]);
    }),
    raw(19, 'tensor-name-twice', (parts) => {
      const [first, second] = parts.tensors;
      if (first && second) second.name = first.name;
    }),
  ];
}

function wrongPlaces(): BrokenGguf[] {
  const second = (name: string, offset: (was: bigint) => bigint): BrokenGguf => {
    return raw(17, name, (parts) => {
      const target = parts.tensors[1];
      if (target) target.offset = offset(target.offset);
    });
  };
  const shortBy = (name: string, cut: (size: number) => number): BrokenGguf => {
    return plain(18, name, () => soundBytes().subarray(0, soundBytes().length - cut(soundBytes().length)));
  };
  return [
    second('offset-max', () => U64_MAX),
    second('offset-max-aligned', () => U64_MAX - 31n),
    second('offset-overlaps', (was) => was - 32n),
    second('offset-misaligned', (was) => was + 1n),
    second('offset-gap', (was) => was + 32n),
    raw(17, 'tensors-out-of-order', (parts) => void parts.tensors.reverse()),
    shortBy('short-by-one-byte', () => 1),
    shortBy('short-by-one-page', () => 4096),
    shortBy('short-by-half', (size) => Math.ceil(size / 2)),
  ];
}
