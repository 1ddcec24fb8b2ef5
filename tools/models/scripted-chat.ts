/**
 * A network that writes given texts: of GPT-2's architecture, whose learned positions decide alone what comes next. Every
 * weight between is zero. From the place of a script on, each position has a channel of its own, and each piece of the
 * text is the output of its channel; behind the last one the turn ends.
 */
import { fileTypeCode } from '../../packages/gguf/src/format/format.ts';
import { f32, text, u32 } from '../gguf/metadata.ts';
import { matrixTensor, setCell, vectorTensor, zeroMatrix } from '../gguf/matrix.ts';
import { writeGguf } from '../gguf/writer.ts';
import { byteVocabulary, spell, vocabularyMetadata } from './byte-vocabulary.ts';

export interface Script {
  readonly text: string;
  /** Bytes per token. */
  readonly pieceBytes: number;
}

export interface ScriptedChatOptions {
  readonly chatTemplate: string;
  readonly scripts: readonly Script[];
  /** Tokens of the prompt that the first script answers; each further script answers a longer one. */
  readonly promptTokens: number;
}

const HEAD_WIDTH = 64;
const FEED_FORWARD = 32;
/** Positions behind the last script, so that an answer is not short of room. */
const ROOM = 1024;
const END = '<|im_end|>';

/** Returns the length in tokens of the prompt that each script answers. */
export async function writeScriptedChat(path: string, options: ScriptedChatOptions): Promise<number[]> {
  const { chatTemplate, promptTokens } = options;
  const scripts = options.scripts.map((script) => [...piecesOf(script), END]);
  const pieces = scripts.flatMap((script) => script.slice(0, -1));
  const vocabulary = byteVocabulary([' the'], [], pieces);
  const tokens = scripts.flat();
  const heads = Math.ceil(tokens.length / HEAD_WIDTH);
  const width = heads * HEAD_WIDTH;
  const contextLength = promptTokens + tokens.length + ROOM;
  const positions = zeroMatrix(contextLength, width);
  const output = zeroMatrix(vocabulary.tokens.length, width);
  for (const [channel, token] of tokens.entries()) {
    // The last token of a prompt has the first piece as its output.
    setCell(positions, promptTokens - 1 + channel, channel, 1);
    setCell(output, vocabulary.idOf(token), channel, 1);
  }
  const zero = (name: string, rows: number, columns: number) => [
    matrixTensor(`${name}.weight`, zeroMatrix(rows, columns)),
    vectorTensor(`${name}.bias`, rows, 0),
  ];
  const norm = (name: string) => [
    vectorTensor(`${name}.weight`, width, 1),
    vectorTensor(`${name}.bias`, width, 0),
  ];
  await writeGguf(path, {
    metadata: {
      'general.architecture': text('gpt2'),
      'general.name': text('Scripted Chat'),
      'general.file_type': u32(fileTypeCode('F16')),
      'gpt2.context_length': u32(contextLength),
      'gpt2.embedding_length': u32(width),
      'gpt2.block_count': u32(1),
      'gpt2.feed_forward_length': u32(FEED_FORWARD),
      'gpt2.attention.head_count': u32(heads),
      'gpt2.attention.layer_norm_epsilon': f32(1e-5),
      'tokenizer.chat_template': text(chatTemplate),
      ...vocabularyMetadata(vocabulary),
    },
    tensors: [
      matrixTensor('token_embd.weight', zeroMatrix(vocabulary.tokens.length, width)),
      matrixTensor('position_embd.weight', positions, 'F32'),
      ...norm('output_norm'),
      matrixTensor('output.weight', output),
      ...norm('blk.0.attn_norm'),
      ...zero('blk.0.attn_qkv', 3 * width, width),
      ...zero('blk.0.attn_output', width, width),
      ...norm('blk.0.ffn_norm'),
      ...zero('blk.0.ffn_up', FEED_FORWARD, width),
      ...zero('blk.0.ffn_down', width, FEED_FORWARD),
    ],
  });
  return scripts.map((_, index) => promptTokens + scripts.slice(0, index).flat().length);
}

function piecesOf({ text: script, pieceBytes }: Script): string[] {
  return spell(script).match(new RegExp(`.{1,${pieceBytes}}`, 'gu')) ?? [];
}
