/** A zip archive of a few small files, right or wrong. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface Item {
  readonly name: string;
  readonly text?: string;
  readonly mode?: number;
  readonly method?: number;
  readonly flags?: number;
  readonly crc?: number;
  readonly size?: number;
}

export function zip(items: readonly Item[]): Buffer {
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
