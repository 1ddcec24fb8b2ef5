/**
 * The weights of the tiny chat model: seeded noise in the free channels, and a few cells
 * set by hand in the reserved ones that give the model its three traits (see tiny-chat.ts).
 *
 * How a trait works: a marker token ("forever", "{") lights a channel of its own embedding.
 * One attention head of layer 0 asks every position for that channel through a rotary pair
 * so slow that distance does not matter, and copies what it finds into a "saw" channel,
 * which the output matrix reads.
 */
import { type ByteVocabulary, SPECIAL_TOKENS, spell } from './byte-vocabulary.ts';
import { addRow, clearColumns, clearRows, type Matrix, randomMatrix, setCell } from '../gguf/matrix.ts';
import type { Random } from '../gguf/random.ts';
import { CHANNEL, TINY_SHAPE } from './tiny-shape.ts';
import { ENDLESS_WORDS, SPOKEN_TEXTS } from './tiny-words.ts';

const { width, headsKv, headWidth, feedForward } = TINY_SHAPE;

/** How strongly noise moves the residual; much lower and the text falls into short loops. */
const LAYER_GAIN = 2;
const LOGIT_SPREAD = 0.6;
/** How much a token dislikes following itself. */
const REPEAT_PENALTY = 0.5;

export function embeddingWeights(vocabulary: ByteVocabulary, random: Random): Matrix {
  const matrix = randomMatrix(vocabulary.tokens.length, width, random, 1);
  clearColumns(matrix, 0, CHANNEL.free);
  for (let id = 0; id < matrix.rows; id += 1) setCell(matrix, id, CHANNEL.constant, 8);
  for (const word of ENDLESS_WORDS) setCell(matrix, vocabulary.idOf(spell(word)), CHANNEL.isForever, 8);

  setCell(matrix, vocabulary.idOf('{'), CHANNEL.isBrace, 8);
  setCell(matrix, vocabulary.idOf('.'), CHANNEL.isFullStop, 8);
  return matrix;
}

export function outputWeights(vocabulary: ByteVocabulary, embedding: Matrix, random: Random): Matrix {
  const matrix = randomMatrix(vocabulary.tokens.length, width, random, LOGIT_SPREAD);
  for (let id = 0; id < matrix.rows; id += 1) addRow(matrix, id, embedding, id, -REPEAT_PENALTY);
  clearColumns(matrix, 0, CHANNEL.free);
  const spoken = new Set(SPOKEN_TEXTS.map((word) => vocabulary.idOf(spell(word))));
  for (let id = 0; id < matrix.rows; id += 1) if (!spoken.has(id)) setCell(matrix, id, CHANNEL.constant, -20);

  setCell(matrix, vocabulary.idOf('.'), CHANNEL.constant, 7);
  setCell(matrix, vocabulary.idOf('"'), CHANNEL.sawBrace, 58);
  const endOfTurn = vocabulary.idOf('<|im_end|>');
  // Less likely than any word, likelier than a stray byte: a finished JSON value ends the turn.
  setCell(matrix, endOfTurn, CHANNEL.constant, -10);
  setCell(matrix, endOfTurn, CHANNEL.isFullStop, 40);
  setCell(matrix, endOfTurn, CHANNEL.sawForever, -60);
  for (const special of SPECIAL_TOKENS) clearNoise(matrix, vocabulary.idOf(special));
  return matrix;
}

export interface AttentionWeights {
  readonly query: Matrix;
  readonly key: Matrix;
  readonly value: Matrix;
  readonly output: Matrix;
}

export function attentionWeights(layer: number, random: Random): AttentionWeights {
  const spread = LAYER_GAIN / Math.sqrt(width);
  const query = randomMatrix(width, width, random, spread);
  const key = randomMatrix(headsKv * headWidth, width, random, spread);
  const value = randomMatrix(headsKv * headWidth, width, random, spread);
  const output = randomMatrix(width, width, random, spread);
  // Query heads 0 and 1 share key head 0; all of them belong to the traits.
  clearRows(query, 0, 2 * headWidth);
  clearRows(key, 0, headWidth);
  clearRows(value, 0, headWidth);
  clearColumns(output, 0, 2 * headWidth);
  clearRows(output, 0, CHANNEL.free);
  if (layer === 0) {
    const weights = { query, key, value, output };
    watchFor({ marker: CHANNEL.isForever, seen: CHANNEL.sawForever, head: 0, pair: 14 }, weights);
    watchFor({ marker: CHANNEL.isBrace, seen: CHANNEL.sawBrace, head: 1, pair: 12 }, weights);
  }
  return { query, key, value, output };
}

export function feedForwardWeights(random: Random): Readonly<Record<'gate' | 'up' | 'down', Matrix>> {
  const gate = randomMatrix(feedForward, width, random, LAYER_GAIN / Math.sqrt(width));
  const up = randomMatrix(feedForward, width, random, LAYER_GAIN / Math.sqrt(width));
  const down = randomMatrix(width, feedForward, random, LAYER_GAIN / Math.sqrt(feedForward));
  for (const matrix of [gate, up]) clearColumns(matrix, 0, CHANNEL.free);
  clearRows(down, 0, CHANNEL.free);
  return { gate, up, down };
}

interface Watch {
  readonly marker: number;
  readonly seen: number;
  readonly head: number;
  /** The row of a rotary pair within the head; late pairs turn slowly. */
  readonly pair: number;
}

function watchFor(watch: Watch, weights: AttentionWeights): void {
  setCell(weights.query, watch.head * headWidth + watch.pair, CHANNEL.constant, 7);
  setCell(weights.key, watch.pair, watch.marker, 3);
  setCell(weights.value, watch.head, watch.marker, 1);
  setCell(weights.output, watch.seen, watch.head * headWidth + watch.head, 1);
}

function clearNoise(matrix: Matrix, row: number): void {
  for (let column = CHANNEL.free; column < matrix.columns; column += 1) setCell(matrix, row, column, 0);
}
