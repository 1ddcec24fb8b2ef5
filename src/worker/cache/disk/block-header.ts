/** Header of a file of state, parsed only after its authentication. */
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';

const Count = Type.Integer({ minimum: 0 });

const Layout = Type.Object({
  magic: Count,
  streams: Count,
  transposed: Type.Boolean(),
  keys: Type.Array(Type.Tuple([Count, Count])),
  values: Type.Array(Type.Array(Count, { maxItems: 3 })),
});

export const BlockHeader = Type.Object({
  /** The file with the tokens before these; null: the first. */
  parent: Type.Union([Type.String({ pattern: '^[0-9a-f]{32}$' }), Type.Null()]),
  start: Count,
  /** Token ids as little-endian 32-bit numbers in base64. */
  tokens: Type.String(),
  owner: Type.String(),
  /** Null: the state of all tokens up to here, in llama.cpp's format. */
  layout: Type.Union([Layout, Type.Null()]),
  rowBytes: Count,
  savesMs: Type.Number({ minimum: 0 }),
});
export type BlockHeader = Static<typeof BlockHeader>;

const check = Compile(BlockHeader);

export function headerText(header: BlockHeader): Buffer {
  return Buffer.from(JSON.stringify(header), 'utf8');
}

export function parseHeader(text: Buffer): BlockHeader | null {
  try {
    const header: unknown = JSON.parse(text.toString('utf8'));
    return check.Check(header) ? header : null;
  } catch {
    return null;
  }
}

export function tokensText(tokens: Uint32Array): string {
  const bytes = Buffer.alloc(tokens.length * 4);
  for (const [i, token] of tokens.entries()) bytes.writeUInt32LE(token, i * 4);
  return bytes.toString('base64');
}

export function decodeTokens(text: string): Uint32Array | null {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return null;
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32LE(i * 4));
}
