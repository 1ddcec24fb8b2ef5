import type { GapTokens, PairTokens, Vocabulary } from '../prompt/vocabulary.ts';
import { enumName, TOKEN_ATTRIBUTES, VOCAB_TYPES } from '../../../packages/llama-api/src/enums.ts';
import type { Pointer } from './library/layouts.ts';
import type { Library } from './library/open.ts';
import { PackedTexts } from './sampling/packed-texts.ts';

type VocabularyType = keyof typeof VOCAB_TYPES;

interface Tokens {
  readonly library: Library;
  readonly vocab: Pointer;
  readonly type: VocabularyType;
}

interface OpenVocabulary extends Vocabulary {
  readonly texts: PackedTexts;
}

export function openVocabulary(library: Library, vocab: Pointer): OpenVocabulary {
  const tokens: Tokens = {
    library,
    vocab,
    type: enumName(VOCAB_TYPES, library.llama_vocab_type(vocab)) ?? 'none',
  };
  const size = library.llama_vocab_n_tokens(vocab);
  const bytes = new Map<number, Uint8Array>();
  const [bos, eos, sep] = [
    library.llama_vocab_bos(vocab),
    library.llama_vocab_eos(vocab),
    library.llama_vocab_sep(vocab),
  ].map((token) => (token < 0 ? null : token)) as [number | null, number | null, number | null];
  const wordPieces = tokens.type === 'wpm';
  const { controlTexts, userDefinedTexts, separateTexts, longest, texts } = survey(tokens, size);
  return {
    size,
    bosText: entryText(tokens, bos),
    eosText: entryText(tokens, eos),
    controlTexts,
    userDefinedTexts,
    separateTexts,
    texts,
    prependToken: wordPieces || library.llama_vocab_get_add_bos(vocab) ? bos : null,
    appendToken: wordPieces ? (sep ?? eos) : library.llama_vocab_get_add_eos(vocab) ? eos : null,
    pair: pairTokens(tokens, { bos, eos, sep }),
    gap: gapTokens(tokens),
    endTokens: [...texts.isEnd.keys()].filter((token) => texts.isEnd[token] === 1),
    leastTokens: (length) => (longest === null ? 0 : Math.floor(length / longest)),
    tokenize: (text, controls) => tokenize(tokens, text, controls),
    tokenizeNext: (text) => tokenizeNext(tokens, text),
    tokenBytes(token) {
      let found = bytes.get(token);
      if (found === undefined) {
        found = isControl(tokens, token)
          ? new Uint8Array()
          : texts.bytes.slice(texts.offsets[token], texts.offsets[token + 1]);
        bytes.set(token, found);
      }
      return found;
    },
    isPlain: (token) =>
      (tokenAttributes(tokens, token) &
        (TOKEN_ATTRIBUTES.control | TOKEN_ATTRIBUTES.unknown | TOKEN_ATTRIBUTES.user_defined)) ===
      0,
    controlText: (token) => (isControl(tokens, token) ? entryText(tokens, token) : null),
    isEnd: (token) => library.llama_vocab_is_eog(vocab, token),
  };
}

interface Marks {
  readonly bos: number | null;
  readonly eos: number | null;
  readonly sep: number | null;
}

/** Uses the flags in the file, as llama-server writes a pair, so that scores are the same. */
function pairTokens({ library, vocab }: Tokens, { bos, eos, sep }: Marks): PairTokens {
  const only = (isAdded: boolean, token: number | null): number[] =>
    isAdded && token !== null ? [token] : [];
  const end = only(library.llama_vocab_get_add_eos(vocab), eos ?? sep);
  return {
    first: only(library.llama_vocab_get_add_bos(vocab), bos),
    between: [...end, ...only(library.llama_vocab_get_add_sep(vocab), sep)],
    last: end,
  };
}

interface Survey {
  readonly controlTexts: string[];
  readonly userDefinedTexts: string[];
  readonly separateTexts: string[];
  readonly longest: number | null;
  readonly texts: PackedTexts;
}

/**
 * One pass over all entries. `longest` (bytes per token) is a lower bound of a text's tokens, so that text which
 * cannot fit is refused without tokenising: megabytes block the process for seconds. Null if the tokeniser may drop
 * text.
 */
function survey(tokens: Tokens, size: number): Survey {
  const controlTexts: string[] = [];
  const userDefinedTexts: string[] = [];
  const separateTexts: string[] = [];
  // A byte-mapped entry is one character per byte, so its UTF-8 length is at least its number of bytes.
  let longest = 1;
  const texts = new PackedTexts(size);
  for (let token = 0; token < size; token += 1) {
    const text = entryText(tokens, token);
    const attributes = tokenAttributes(tokens, token);
    const isSilent = (attributes & (TOKEN_ATTRIBUTES.control | TOKEN_ATTRIBUTES.unknown)) !== 0;
    const isEnd = tokens.library.llama_vocab_is_eog(tokens.vocab, token);
    longest = Math.max(longest, Buffer.byteLength(text));
    const bytes = isSilent
      ? Buffer.from(text, 'utf8')
      : entryBytes(tokens, token, { entry: text, attributes });
    texts.add(token, bytes, isEnd);
    if (text.length <= 1) continue;
    if (isSeparate(attributes)) separateTexts.push(text);
    // End tokens count even if a file gives them an ordinary type, as their effect is that of a control.
    if (isSilent || isEnd) controlTexts.push(text);
    else if ((attributes & TOKEN_ATTRIBUTES.user_defined) !== 0) userDefinedTexts.push(text);
  }
  return {
    controlTexts,
    userDefinedTexts,
    separateTexts,
    texts,
    longest: tokens.type === 'bpe' || tokens.type === 'spm' ? longest : null,
  };
}

function isSeparate(attributes: number): boolean {
  const isFirst = (attributes & (TOKEN_ATTRIBUTES.control | TOKEN_ATTRIBUTES.user_defined)) !== 0;
  return isFirst && (attributes & TOKEN_ATTRIBUTES.lstrip) === 0;
}

function gapTokens({ library, vocab }: Tokens): GapTokens | null {
  const prefix = library.llama_vocab_fim_pre(vocab);
  const suffix = library.llama_vocab_fim_suf(vocab);
  const middle = library.llama_vocab_fim_mid(vocab);
  if (Math.min(prefix, suffix, middle) < 0) return null;
  const [repository, file] = [library.llama_vocab_fim_rep(vocab), library.llama_vocab_fim_sep(vocab)].map(
    (token) => (token < 0 ? null : token),
  );
  return { prefix, suffix, middle, repository: repository ?? null, file: file ?? null };
}

function tokenize({ library, vocab }: Tokens, text: string, controls: boolean): Uint32Array {
  const bytes = Buffer.from(text, 'utf8');
  const room = new Int32Array(bytes.length + 2);
  const count = library.llama_tokenize(vocab, bytes, bytes.length, room, room.length, false, controls);
  if (count >= 0) return Uint32Array.from(room.subarray(0, count));
  const more = new Int32Array(-count);
  const again = library.llama_tokenize(vocab, bytes, bytes.length, more, more.length, false, controls);
  if (again < 0) throw new Error('llama.cpp could not tokenise the text');
  return Uint32Array.from(more.subarray(0, again));
}

/** No tokeniser puts anything before this, or joins it with what follows; it becomes one byte token, or is dropped. */
const SEPARATOR = '\u0001';

/** Some vocabularies put a space before all text. It lands after the separator, and both are removed again. */
function tokenizeNext(tokens: Tokens, text: string): Uint32Array {
  if (tokens.type !== 'spm') return tokenize(tokens, text, true);
  const separator = tokenize(tokens, SEPARATOR, true);
  const all = tokenize(tokens, SEPARATOR + text, true);
  const isSeparate = separator.every((token, i) => all[i] === token);
  return isSeparate ? all.slice(separator.length) : tokenize(tokens, text, true);
}

function entryText({ library, vocab }: Tokens, token: number | null): string {
  return token === null ? '' : (library.llama_vocab_get_text(vocab, token) ?? '');
}

function tokenAttributes({ library, vocab }: Tokens, token: number): number {
  return library.llama_vocab_get_attr(vocab, token);
}

function isControl(tokens: Tokens, token: number): boolean {
  return (tokenAttributes(tokens, token) & (TOKEN_ATTRIBUTES.control | TOKEN_ATTRIBUTES.unknown)) !== 0;
}

/** Exact bytes, including tokens with part of a character, which no decoded string can represent. */
function entryBytes(
  tokens: Tokens,
  token: number,
  { entry, attributes }: { readonly entry: string; readonly attributes: number },
): Uint8Array {
  if ((attributes & TOKEN_ATTRIBUTES.user_defined) !== 0) return Buffer.from(entry, 'utf8');
  switch (tokens.type) {
    case 'bpe':
      return byteLevelBytes(entry) ?? piece(tokens, token);
    case 'spm':
    case 'ugm':
      return sentencePieceBytes(entry);
    default:
      return piece(tokens, token);
  }
}

function piece({ library, vocab }: Tokens, token: number): Uint8Array {
  const room = new Uint8Array(64);
  const length = library.llama_token_to_piece(vocab, token, room, room.length, 0, false);
  if (length >= 0) return room.slice(0, length);
  const more = new Uint8Array(-length);
  return more.slice(0, Math.max(0, library.llama_token_to_piece(vocab, token, more, more.length, 0, false)));
}

const SPACE_MARK = '\u2581';
const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;

function sentencePieceBytes(entry: string): Uint8Array {
  const byte = BYTE_TOKEN.exec(entry)?.[1];
  if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
  return Buffer.from(entry.replaceAll(SPACE_MARK, ' '), 'utf8');
}

/** Null if the entry is not byte-mapped: some BPE files (SentencePiece-like ones) hold plain text with marks. */
function byteLevelBytes(entry: string): Uint8Array | null {
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
