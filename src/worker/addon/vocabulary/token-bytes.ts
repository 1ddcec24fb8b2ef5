/** Converts an entry of a vocabulary, as in the file, to the bytes that it represents. Pure. */

const SPACE_MARK = '\u2581';
const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;

export function sentencePieceBytes(entry: string): Uint8Array {
  const byte = BYTE_TOKEN.exec(entry)?.[1];
  if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
  return Buffer.from(entry.replaceAll(SPACE_MARK, ' '), 'utf8');
}

/** Null when the entry is not byte-mapped: some BPE files (SentencePiece-like ones) hold plain text with marks. */
export function byteLevelBytes(entry: string): Uint8Array | null {
  const bytes: number[] = [];
  for (const character of entry) {
    const byte = BYTE_OF.get(character);
    if (byte === undefined) return null;
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** GPT-2's table: printable Latin-1 represents itself, every other byte has a character from U+0100 on. */
const BYTE_OF: ReadonlyMap<string, number> = byteTable();

function byteTable(): Map<string, number> {
  const table = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte += 1) {
    const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    table.set(String.fromCodePoint(printable ? byte : next), byte);
    if (!printable) next += 1;
  }
  return table;
}
