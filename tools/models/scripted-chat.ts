/**
 * A network that writes a given text: of GPT-2's architecture, whose learned positions decide alone what comes next. Every
 * weight between is zero. From position `from` on, each position has a channel of its own, and each byte of the text is
 * the output of its channel; behind the last one the turn ends.
 */
import { fileTypeCode } from '../../src/lib/gguf/format/format.ts';
import { f32, text, u32 } from '../gguf/metadata.ts';
import { matrixTensor, setCell, vectorTensor, zeroMatrix } from '../gguf/matrix.ts';
import { writeGguf } from '../gguf/writer.ts';
import { byteVocabulary, spell, vocabularyMetadata } from './byte-vocabulary.ts';

export interface ScriptedChatOptions {
  readonly chatTemplate: string;
  readonly script: string;
  /** The position of the last token of the prompt, whose output is the first of the answer. */
  readonly from: number;
}

const WIDTH = 1024;
const HEADS = 8;
const FEED_FORWARD = 32;
const CONTEXT = 4096;

/** Throws when the script is longer than the network is wide. */
export async function writeScriptedChat(path: string, options: ScriptedChatOptions): Promise<void> {
  const { chatTemplate, script, from } = options;
  const letters = [...spell(script)];
  if (letters.length >= WIDTH) throw new RangeError(`a script has at most ${WIDTH - 1} bytes`);
  const vocabulary = byteVocabulary([' the']);
  const positions = zeroMatrix(CONTEXT, WIDTH);
  const output = zeroMatrix(vocabulary.tokens.length, WIDTH);
  for (const [channel, letter] of [...letters, '<|im_end|>'].entries()) {
    setCell(positions, from + channel, channel, 1);
    setCell(output, vocabulary.idOf(letter), channel, 1);
  }
  const zero = (name: string, rows: number, columns: number) => [
    matrixTensor(`${name}.weight`, zeroMatrix(rows, columns)),
    vectorTensor(`${name}.bias`, rows, 0),
  ];
  const norm = (name: string) => [
    vectorTensor(`${name}.weight`, WIDTH, 1),
    vectorTensor(`${name}.bias`, WIDTH, 0),
  ];
  await writeGguf(path, {
    metadata: {
      'general.architecture': text('gpt2'),
      'general.name': text('Scripted Chat'),
      'general.file_type': u32(fileTypeCode('F16')),
      'gpt2.context_length': u32(CONTEXT),
      'gpt2.embedding_length': u32(WIDTH),
      'gpt2.block_count': u32(1),
      'gpt2.feed_forward_length': u32(FEED_FORWARD),
      'gpt2.attention.head_count': u32(HEADS),
      'gpt2.attention.layer_norm_epsilon': f32(1e-5),
      'tokenizer.chat_template': text(chatTemplate),
      ...vocabularyMetadata(vocabulary),
    },
    tensors: [
      matrixTensor('token_embd.weight', zeroMatrix(vocabulary.tokens.length, WIDTH)),
      matrixTensor('position_embd.weight', positions, 'F32'),
      ...norm('output_norm'),
      matrixTensor('output.weight', output),
      ...norm('blk.0.attn_norm'),
      ...zero('blk.0.attn_qkv', 3 * WIDTH, WIDTH),
      ...zero('blk.0.attn_output', WIDTH, WIDTH),
      ...norm('blk.0.ffn_norm'),
      ...zero('blk.0.ffn_up', FEED_FORWARD, WIDTH),
      ...zero('blk.0.ffn_down', WIDTH, FEED_FORWARD),
    ],
  });
}
