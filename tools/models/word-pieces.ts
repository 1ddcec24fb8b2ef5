/**
 * A small WordPiece vocabulary: every printable ASCII character and every pair of letters,
 * at the start of a word and inside one, so that any English word has a spelling.
 *
 * llama.cpp stores WordPiece inside out: a piece that starts a word carries "▁", and one
 * that continues a word loses its "##".
 */
import { TOKEN_TYPE } from '../../packages/gguf/src/format/format.ts';
import { type MetadataValue, scalars, text, texts, u32 } from '../gguf/metadata.ts';

const SPECIAL_PIECES = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

export function wordPieces(): string[] {
  const printable = Array.from({ length: 0x7e - 0x21 + 1 }, (_, index) => String.fromCharCode(0x21 + index));
  // Input is lower-cased before it is looked up, so capitals would never be found.
  const single = printable.filter((letter) => letter === letter.toLowerCase());
  const pairs = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
  const pieces = [...single, ...pairs];
  return [...SPECIAL_PIECES, ...pieces.map((piece) => `▁${piece}`), ...pieces];
}

export function wordPieceMetadata(pieces: readonly string[]): Record<string, MetadataValue> {
  const id = (piece: string): MetadataValue => u32(pieces.indexOf(piece));
  return {
    'tokenizer.ggml.model': text('bert'),
    'tokenizer.ggml.pre': text('default'),
    'tokenizer.ggml.tokens': texts(pieces),
    'tokenizer.ggml.token_type': scalars('i32', pieces.map(pieceType)),
    'tokenizer.ggml.token_type_count': u32(2),
    'tokenizer.ggml.bos_token_id': id('[CLS]'),
    'tokenizer.ggml.cls_token_id': id('[CLS]'),
    'tokenizer.ggml.seperator_token_id': id('[SEP]'),
    'tokenizer.ggml.padding_token_id': id('[PAD]'),
    'tokenizer.ggml.unknown_token_id': id('[UNK]'),
    'tokenizer.ggml.mask_token_id': id('[MASK]'),
  };
}

function pieceType(piece: string): number {
  if (piece === '[UNK]') return TOKEN_TYPE.unknown;
  return SPECIAL_PIECES.includes(piece) ? TOKEN_TYPE.control : TOKEN_TYPE.normal;
}
