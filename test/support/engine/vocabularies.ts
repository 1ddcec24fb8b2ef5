/**
 * Five vocabularies in the manner of model families: byte-level BPE and SentencePiece, each with control tokens of
 * its own. As model files without weights, which is all that a tokeniser needs.
 */
import { byteVocabulary, vocabularyMetadata } from '../../../tools/models/byte-vocabulary.ts';
import { TINY_WORDS } from '../../../tools/models/tiny-words.ts';
import { TOKEN_TYPE } from '../../../packages/gguf/src/format/format.ts';
import { f32, flag, type MetadataValue, scalars, text, texts, u32 } from '../../../tools/gguf/metadata.ts';
import { type TemplateName, template } from '../templates.ts';

export interface VocabularyFixture {
  readonly name: string;
  readonly template: TemplateName;
  readonly controls: readonly string[];
  readonly metadata: Readonly<Record<string, MetadataValue>>;
}

export const vocabularies: readonly VocabularyFixture[] = [
  bpe('ChatML, BPE', 'hermes', [
    '<|im_start|>',
    '<|im_end|>',
    '<|endoftext|>',
    '<tool_call>',
    '</tool_call>',
    '<think>',
    '</think>',
  ]),
  bpe('Llama 3, BPE', 'llama3-json', [
    '<|begin_of_text|>',
    '<|eot_id|>',
    '<|start_header_id|>',
    '<|end_header_id|>',
    '<|python_tag|>',
  ]),
  bpe('Phi, BPE', 'phi4', [
    '<|endoftext|>',
    '<|end|>',
    '<|user|>',
    '<|assistant|>',
    '<|system|>',
    '<|tool_call|>',
    '<|/tool_call|>',
    '<|tool|>',
    '<|/tool|>',
  ]),
  sentencePiece('Mistral, SentencePiece', 'mistral', [
    '<s>',
    '</s>',
    '[INST]',
    '[/INST]',
    '[TOOL_CALLS]',
    '[TOOL_RESULTS]',
    '[/TOOL_RESULTS]',
    '[AVAILABLE_TOOLS]',
    '[/AVAILABLE_TOOLS]',
  ]),
  sentencePiece('Gemma, SentencePiece', 'gemma', ['<bos>', '<eos>', '<start_of_turn>', '<end_of_turn>']),
];

/** A byte-level vocabulary for whichever template, with these texts as control and as user-defined tokens. */
export function markedVocabulary(
  controls: readonly string[],
  userDefined: readonly string[],
): Readonly<Record<string, MetadataValue>> {
  const first = ['<s>', '</s>'];
  const { metadata } = bpe(
    'marks',
    'last-message',
    [...first, ...controls.filter((text) => !first.includes(text))],
    userDefined,
  );
  return metadata;
}

/** The first control token begins a text, the second ends a turn. */
function bpe(
  name: string,
  templateName: TemplateName,
  controls: readonly string[],
  userDefined: readonly string[] = [],
): VocabularyFixture {
  const base = byteVocabulary(TINY_WORDS);
  const count = base.tokens.length - 3;
  const tokens = [...base.tokens.slice(0, count), ...controls, ...userDefined];
  return fixture(name, templateName, controls, {
    ...vocabularyMetadata(base),
    'tokenizer.ggml.tokens': texts(tokens),
    'tokenizer.ggml.token_type': scalars(
      'i32',
      tokens.map((_, id) => {
        if (id < count) return TOKEN_TYPE.normal;
        return id < count + controls.length ? TOKEN_TYPE.control : TOKEN_TYPE.userDefined;
      }),
    ),
    'tokenizer.ggml.bos_token_id': u32(count),
    'tokenizer.ggml.eos_token_id': u32(count + 1),
    'tokenizer.ggml.padding_token_id': u32(count + 1),
  });
}

function sentencePiece(
  name: string,
  templateName: TemplateName,
  controls: readonly string[],
): VocabularyFixture {
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const letters = [...'▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_<>[]|/.,:"{}\n'];
  const words = ['▁the', '▁a', 'th', 'he', 'in', 'st', 'art', '_of', 'turn', 'IN', 'INS', 'INST', 'end'];
  const tokens = ['<unk>', ...controls, ...bytes, ...letters, ...words];
  const types = [
    TOKEN_TYPE.unknown,
    ...controls.map(() => TOKEN_TYPE.control),
    ...bytes.map(() => TOKEN_TYPE.byte),
    ...[...letters, ...words].map(() => TOKEN_TYPE.normal),
  ];
  return fixture(name, templateName, controls, {
    'tokenizer.ggml.model': text('llama'),
    'tokenizer.ggml.tokens': texts(tokens),
    'tokenizer.ggml.scores': scalars(
      'f32',
      tokens.map((token) => (token.length > 1 ? -1 / token.length : -10)),
    ),
    'tokenizer.ggml.token_type': scalars('i32', types),
    'tokenizer.ggml.unknown_token_id': u32(0),
    'tokenizer.ggml.bos_token_id': u32(1),
    'tokenizer.ggml.eos_token_id': u32(2),
    'tokenizer.ggml.add_bos_token': flag(true),
    'tokenizer.ggml.add_space_prefix': flag(false),
  });
}

function fixture(
  name: string,
  templateName: TemplateName,
  controls: readonly string[],
  vocabulary: Readonly<Record<string, MetadataValue>>,
): VocabularyFixture {
  const architecture: Record<string, MetadataValue> = {
    'general.architecture': text('llama'),
    'general.name': text(name),
    'llama.context_length': u32(512),
    'llama.embedding_length': u32(64),
    'llama.block_count': u32(1),
    'llama.feed_forward_length': u32(64),
    'llama.attention.head_count': u32(1),
    'llama.attention.layer_norm_rms_epsilon': f32(1e-5),
    'tokenizer.chat_template': text(template(templateName)),
  };
  return { name, template: templateName, controls, metadata: { ...architecture, ...vocabulary } };
}
