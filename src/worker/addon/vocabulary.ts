/** Reads the vocabulary of an open model: text to tokens, tokens to bytes, and which tokens are controls. */
import { type LlamaModel, LlamaVocabularyType } from 'node-llama-cpp';
import type { Vocabulary } from '../prompt/vocabulary.ts';
import type { AddonVocabulary } from './bindings.ts';
import { addonVocabulary } from './internals.ts';

const ATTRIBUTE_UNKNOWN = 1 << 0;
const ATTRIBUTE_CONTROL = 1 << 3;
const ATTRIBUTE_USER_DEFINED = 1 << 4;
const REPLACEMENT = '\uFFFD';
const SPACE_MARK = '\u2581';
const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;

export function openVocabulary(model: LlamaModel): Vocabulary {
  const native = addonVocabulary(model);
  const bytes = new Map<number, Uint8Array>();
  const size = vocabularySize(model);
  const { bos, eos, sep } = model.tokens;
  const wordPieces = model.vocabularyType === LlamaVocabularyType.wpm;
  return {
    size,
    bosText: model.tokens.bosString ?? '',
    eosText: model.tokens.eosString ?? '',
    controlTexts: controlTexts(native, size),
    prependToken: wordPieces || native.shouldPrependBosToken() ? bos : null,
    appendToken: wordPieces ? (sep ?? eos) : native.shouldAppendEosToken() ? eos : null,
    leastTokens: leastTokens(model),
    tokenize: (text, controls) => native.tokenize(text, controls),
    bytesOf(token) {
      let found = bytes.get(token);
      if (found === undefined) {
        found = isControl(native, token) ? new Uint8Array() : tokenBytes(model, native, token);
        bytes.set(token, found);
      }
      return found;
    },
    isPlain: (token) =>
      (native.getTokenAttributes(token) &
        (ATTRIBUTE_CONTROL | ATTRIBUTE_UNKNOWN | ATTRIBUTE_USER_DEFINED)) ===
      0,
    controlTextOf: (token) => (isControl(native, token) ? (native.getTokenString(token) ?? '') : null),
    isEnd: (token) => native.isEogToken(token),
  };
}

function vocabularySize(model: LlamaModel): number {
  return vocabularyTexts(model).length;
}

function vocabularyTexts(model: LlamaModel): readonly unknown[] {
  const tokens: unknown = model.fileInfo.metadata.tokenizer?.ggml?.tokens;
  return Array.isArray(tokens) ? tokens : [];
}

/** Tokenising megabytes blocks the process for seconds; this bound refuses what cannot fit without doing so. */
function leastTokens(model: LlamaModel): (bytes: number) => number {
  const { bpe, spm } = LlamaVocabularyType;
  if (model.vocabularyType !== bpe && model.vocabularyType !== spm) return () => 0;
  // A byte-mapped entry is one character per byte, so its UTF-8 length is never less than the bytes it stands for.
  const longest = vocabularyTexts(model).reduce<number>(
    (most, text) => (typeof text === 'string' ? Math.max(most, Buffer.byteLength(text)) : most),
    1,
  );
  return (bytes) => Math.floor(bytes / longest);
}

function isControl(native: AddonVocabulary, token: number): boolean {
  return (native.getTokenAttributes(token) & (ATTRIBUTE_CONTROL | ATTRIBUTE_UNKNOWN)) !== 0;
}

function controlTexts(native: AddonVocabulary, size: number): string[] {
  const texts: string[] = [];
  for (let token = 0; token < size; token += 1) {
    // End tokens count even where a file gives them an ordinary type, as their effect is that of a control.
    if (!isControl(native, token) && !native.isEogToken(token)) continue;
    const text = native.getTokenString(token);
    if (text !== undefined && text.length > 1) texts.push(text);
  }
  return texts;
}

/** Exact bytes, also of tokens that hold a part of a character, which no decoded string can carry. */
function tokenBytes(model: LlamaModel, native: AddonVocabulary, token: number): Uint8Array {
  const entry = native.getTokenString(token) ?? '';
  if ((native.getTokenAttributes(token) & ATTRIBUTE_USER_DEFINED) !== 0) return Buffer.from(entry, 'utf8');
  switch (model.vocabularyType) {
    case LlamaVocabularyType.bpe:
      return byteLevelBytes(entry) ?? decodedBytes(native, token);
    case LlamaVocabularyType.spm:
    case LlamaVocabularyType.ugm:
      return sentencePieceBytes(entry);
    default:
      return decodedBytes(native, token);
  }
}

function sentencePieceBytes(entry: string): Uint8Array {
  const byte = BYTE_TOKEN.exec(entry)?.[1];
  if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
  return Buffer.from(entry.replaceAll(SPACE_MARK, ' '), 'utf8');
}

function decodedBytes(native: AddonVocabulary, token: number): Uint8Array {
  const text = native.detokenize(Uint32Array.of(token), false);
  return Buffer.from(text.replaceAll(REPLACEMENT, ''), 'utf8');
}

/** Null when the entry is not byte-mapped: some BPE files (SentencePiece-like ones) hold plain text with marks. */
function byteLevelBytes(entry: string): Uint8Array | null {
  const bytes: number[] = [];
  for (const character of entry) {
    const byte = BYTE_OF.get(character);
    if (byte === undefined) return null;
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** GPT-2's table: printable Latin-1 stands for itself, every other byte for a character from U+0100 on. */
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
