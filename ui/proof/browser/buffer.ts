/** The parts of Buffer that the verifier uses. The build inserts it for the verifier's Buffer. */
type Encoding = 'utf8' | 'base64' | 'hex' | 'latin1';

class Bytes extends Uint8Array<ArrayBuffer> {
  override toString(encoding: Encoding = 'utf8', start = 0, end = this.length): string {
    const bytes = this.subarray(start, end);
    if (encoding === 'utf8') return new TextDecoder().decode(bytes);
    if (encoding === 'hex') return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return encoding === 'base64' ? btoa(latin1(bytes)) : latin1(bytes);
  }

  readUInt32BE(offset: number): number {
    return new DataView(this.buffer, this.byteOffset).getUint32(offset);
  }
}
export type { Bytes };

export const Buffer = {
  from: (value: string | ArrayLike<number>, encoding: Encoding = 'utf8'): Bytes => bytesFrom(value, encoding),
  alloc: (size: number): Bytes => new Bytes(new ArrayBuffer(size)),
  concat(parts: readonly Uint8Array[]): Bytes {
    const whole = Buffer.alloc(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  },
};

function bytesFrom(value: string | ArrayLike<number>, encoding: Encoding): Bytes {
  if (typeof value !== 'string') return copied(value);
  if (encoding === 'base64') return copied(bytesOf(atob(value)));
  if (encoding === 'hex') return copied((value.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));
  return copied(new TextEncoder().encode(value));
}

function copied(values: ArrayLike<number>): Bytes {
  const bytes = Buffer.alloc(values.length);
  bytes.set(values);
  return bytes;
}

/** One character per byte: a key for maps, and the input of btoa. */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  // In pieces, because a call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

const bytesOf = (characters: string): number[] => [...characters].map((character) => character.charCodeAt(0));

export function isUtf8(bytes: Uint8Array<ArrayBuffer>): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
