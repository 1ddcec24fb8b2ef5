/**
 * Checks tokenizer metadata against conditions under which llama.cpp reads beyond an array or aborts at the first
 * text.
 */
import type { Header } from '../../format/header.ts';
import { LIMITS } from '../../format/limits.ts';
import type { VocabularyFacts } from '../draft-vocabulary.ts';
import type { Lookup } from '../../format/lookup.ts';

/** Some converters write "no such token" as -1 in 32 bits; llama.cpp falls back to its default. */
const NO_TOKEN = 0xffff_ffff;

/** llama.cpp's defaults for omitted ids; absent: no default. */
const DEFAULT_IDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  llama: { bos: 1, eos: 2 },
  bert: { bos: 101, unknown: 100, seperator: 102, padding: 0, mask: 103 },
  t5: { eos: 1, unknown: 2, padding: 0 },
};

const NEEDS_NEWLINE = new Set(['gpt2', 'llama', 'rwkv']);
/** These tokenizers have no other token for unknown characters. */
const FALLS_BACK_TO_UNKNOWN = new Set(['bert', 't5']);
/** llama.cpp needs the byte of each byte token, and these tokenizers parse it from its spelling. */
const READS_BYTES = new Set(['llama', 't5', 'gpt2', 'gemma4', 'bert']);
const TEST_TOKENIZER = 'test';
const WITHOUT_VOCABULARY = new Set(['none', 'no_vocab']);

export function checkVocabulary(header: Header, lookup: Lookup): void {
  const tokenizerModel =
    lookup.text('tokenizer.ggml.model') ?? lookup.refuse('tokenizer.ggml.model is missing');
  if (WITHOUT_VOCABULARY.has(tokenizerModel))
    lookup.refuse('it has no vocabulary, so text cannot be tokenised');
  if (tokenizerModel === TEST_TOKENIZER) lookup.refuse('its tokenizer is one for tests, which reads no text');
  checkTokenList(header, lookup);
  checkParallelArray(header, lookup, 'tokenizer.ggml.scores', ['f32', 'i32']);
  checkParallelArray(header, lookup, 'tokenizer.ggml.token_type', ['i32']);
  if (tokenizerModel === 'gpt2') checkMerges(lookup);
  if (NEEDS_NEWLINE.has(tokenizerModel) && header.vocabulary.newlines.size === 0)
    lookup.refuse('its vocabulary has no token for a line feed');

  if (tokenizerModel === 'plamo2' && header.vocabulary.suffixRows > LIMITS.plamoRows)
    lookup.refuse('its tokens are so long that the tokenizer would not fit into memory');

  const ids = readSpecialIds(header.vocabulary.size, lookup);
  checkAddedTokens(tokenizerModel, header.vocabulary.size, ids, lookup);
  checkByteTokens(tokenizerModel, header, lookup);
}

export function vocabularyFacts({ vocabulary }: Header, lookup: Lookup): VocabularyFacts {
  const type = lookup.text('tokenizer.ggml.model') ?? '';
  const ids = readSpecialIds(vocabulary.size, lookup);
  const defaults = DEFAULT_IDS[type] ?? {};
  return {
    type,
    size: vocabulary.size,
    bos: ids.get('bos') ?? defaults['bos'] ?? null,
    eos: ids.get('eos') ?? defaults['eos'] ?? null,
    // Defaults: SentencePiece vocabularies add a first token, and none adds a last one.
    addBos: lookup.flag('tokenizer.ggml.add_bos_token') ?? type === 'llama',
    addEos: lookup.flag('tokenizer.ggml.add_eos_token') ?? false,
    first: vocabulary.first,
  };
}

function checkTokenList(header: Header, lookup: Lookup): void {
  const tokens = lookup.entry('tokenizer.ggml.tokens');
  if (!tokens) lookup.refuse('tokenizer.ggml.tokens is missing');
  if (tokens?.type !== 'array' || tokens.of !== 'string')
    lookup.refuse('tokenizer.ggml.tokens is not an array of strings');
  if (header.vocabulary.size === 0) lookup.refuse('its vocabulary is empty');
}

/** llama.cpp indexes these arrays by token id, in the types that it expects. */
function checkParallelArray(header: Header, lookup: Lookup, key: string, types: readonly string[]): void {
  const entry = lookup.entry(key);
  if (!entry) return;
  const of = entry.type === 'array' ? entry.of : entry.type;
  if (entry.type !== 'array' || !types.includes(of))
    lookup.refuse(`${key} holds ${of} where ${types.join(' or ')} is required`);

  if (entry.count < header.vocabulary.size)
    lookup.refuse(`${key} has ${entry.count} entries for ${header.vocabulary.size} tokens`);
}

function checkMerges(lookup: Lookup): void {
  const merges = lookup.entry('tokenizer.ggml.merges');
  // Kimi-K2 is the one byte-level vocabulary that llama.cpp reads without merges.
  if (!merges && lookup.text('tokenizer.ggml.pre') === 'kimi-k2') return;
  if (merges?.type !== 'array' || merges.of !== 'string')
    lookup.refuse('tokenizer.ggml.merges is missing or not an array of strings');
}

type SpecialIds = ReadonlyMap<string, number>;

function readSpecialIds(vocabularySize: number, lookup: Lookup): SpecialIds {
  const ids = new Map<string, number>();
  for (const key of lookup.keys()) {
    const name = /^tokenizer\.ggml\.(.+)_token_id$/.exec(key)?.[1];
    if (name === undefined) continue;
    const id = lookup.count(key, NO_TOKEN);
    if (id === undefined || id === NO_TOKEN) continue;
    if (id >= vocabularySize) lookup.refuse(`${key} is ${id} in a vocabulary of ${vocabularySize} tokens`);
    ids.set(name, id);
  }
  return ids;
}

function checkAddedTokens(model: string, vocabularySize: number, ids: SpecialIds, lookup: Lookup): void {
  const defaults = DEFAULT_IDS[model] ?? {};
  const exists = (name: string): boolean => {
    const id = ids.get(name) ?? defaults[name];
    return id !== undefined && id < vocabularySize;
  };
  for (const name of ['bos', 'eos'] as const) {
    if (lookup.flag(`tokenizer.ggml.add_${name}_token`) === true && !exists(name))
      lookup.refuse(`tokenizer.ggml.add_${name}_token is set but there is no such token`);
  }
  // WordPiece frames every text with [CLS] and [SEP] regardless of the file.
  if (model === 'bert' && !(exists('bos') || exists('cls')))
    lookup.refuse('its vocabulary has no [CLS] token');
  if (model === 'bert' && !exists('seperator')) lookup.refuse('its vocabulary has no [SEP] token');
  if (FALLS_BACK_TO_UNKNOWN.has(model) && !exists('unknown'))
    lookup.refuse('its vocabulary has no token for unknown text');
}

/** A file may combine the vocabulary of one tokenizer with the name of another. */
function checkByteTokens(model: string, { vocabulary, byteTypes }: Header, lookup: Lookup): void {
  const { bytes } = vocabulary;
  const missing = model === 'llama' ? bytes.missing : model === 'rwkv' ? bytes.missingEscaped : null;
  if (missing !== null) {
    lookup.refuse(
      `its vocabulary has no token for the byte ${missing}, which the tokenizer "${model}" needs`,
    );
  }
  if (!READS_BYTES.has(model)) return;
  const id = byteTypes.find((each) => model === 'bert' || !bytes.spelled.has(each));
  if (id !== undefined) lookup.refuse(`its token ${id} is declared to be a byte and is not spelled as one`);
}
