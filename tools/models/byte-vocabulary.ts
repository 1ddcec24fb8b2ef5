/**
 * A byte-level BPE vocabulary in GPT-2's notation: all 256 bytes are tokens, so any text
 * round-trips, and each given word is one token, reached by merging its letters in order.
 */
import { TOKEN_TYPE } from '../../packages/gguf/src/format/format.ts';
import { type MetadataValue, scalars, text, texts, u32, flag } from '../gguf/metadata.ts';

export interface ByteVocabulary {
  readonly tokens: readonly string[];
  readonly tokenTypes: readonly number[];
  readonly merges: readonly string[];
  readonly idOf: (token: string) => number;
}

export const SPECIAL_TOKENS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'] as const;

/** Around a gap and its middle, as llama.cpp recognises them by name. */
export const GAP_TOKENS = ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'] as const;

/** `further`: control tokens behind the usual ones; `pieces`: tokens, spelled, that no merge reaches, so no text has them. */
export function byteVocabulary(
  words: readonly string[],
  further: readonly string[] = [],
  pieces: readonly string[] = [],
): ByteVocabulary {
  const ids = new Map<string, number>();
  const merges: string[] = [];
  const add = (token: string): void => {
    if (!ids.has(token)) ids.set(token, ids.size);
  };
  for (let byte = 0; byte < 256; byte += 1) add(byteLetter(byte));
  for (const word of words) {
    const letters = [...Buffer.from(word, 'utf8')].map(byteLetter);
    let stem = letters[0] ?? '';
    for (const letter of letters.slice(1)) {
      if (!ids.has(stem + letter)) merges.push(`${stem} ${letter}`);
      stem += letter;
      add(stem);
    }
  }
  for (const piece of pieces) add(piece);
  const normalCount = ids.size;
  for (const special of [...SPECIAL_TOKENS, ...further]) add(special);
  const tokens = [...ids.keys()];
  return {
    tokens,
    tokenTypes: tokens.map((_, id) => (id < normalCount ? TOKEN_TYPE.normal : TOKEN_TYPE.control)),
    merges,
    idOf: (token) => {
      const id = ids.get(token);
      if (id === undefined) throw new TypeError(`"${token}" is not in the vocabulary`);
      return id;
    },
  };
}

/** The `tokenizer.*` metadata for a vocabulary whose turns end with <|im_end|>. */
export function vocabularyMetadata(vocabulary: ByteVocabulary): Record<string, MetadataValue> {
  return {
    'tokenizer.ggml.model': text('gpt2'),
    'tokenizer.ggml.pre': text('gpt-2'),
    'tokenizer.ggml.tokens': texts(vocabulary.tokens),
    'tokenizer.ggml.token_type': scalars('i32', vocabulary.tokenTypes),
    'tokenizer.ggml.merges': texts(vocabulary.merges),
    'tokenizer.ggml.bos_token_id': u32(vocabulary.idOf('<|endoftext|>')),
    'tokenizer.ggml.eos_token_id': u32(vocabulary.idOf('<|im_end|>')),
    'tokenizer.ggml.padding_token_id': u32(vocabulary.idOf('<|endoftext|>')),
    'tokenizer.ggml.add_bos_token': flag(false),
  };
}

/** The vocabulary's spelling of a text: GPT-2 writes each byte as one printable letter. */
export function spell(value: string): string {
  return [...Buffer.from(value, 'utf8')].map(byteLetter).join('');
}

/** Printable Latin-1 bytes stand for themselves; the others take letters from U+0100 on, in order. */
function byteLetter(byte: number): string {
  if (isPrintable(byte)) return String.fromCharCode(byte);
  let rank = 0;
  for (let other = 0; other < byte; other += 1) if (!isPrintable(other)) rank += 1;
  return String.fromCharCode(0x100 + rank);
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
}
