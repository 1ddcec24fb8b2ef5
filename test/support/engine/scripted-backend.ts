/**
 * The addon's page without a native library: bytes are tokens, and the "model" continues its prompt with what a script
 * says. Everything of the child process but the addon itself runs over it as it does over llama.cpp.
 */
import { createHash } from 'node:crypto';
import { readState, copyRows, StateBuilder } from '../../../src/worker/cache/state-layout.ts';
import type {
  NativeBackend,
  NativeContext,
  NativeModel,
  NativeProjector,
  NativeSampler,
} from '../../../src/worker/native.ts';
import type { Vocabulary } from '../../../src/worker/prompt/vocabulary.ts';
import { loadSpec } from './jobs.ts';

/** The bytes that follow these, which are the prompt and the answer so far. None: the turn ends. */
export type Script = (before: Buffer) => Uint8Array;

const OPENING = 'assistant\n';

/** Gives a whole answer behind the words with which the fallback template opens the turn of the assistant. */
export function answering(answerTo: (prompt: string) => string, opening = OPENING): Script {
  return (before) => {
    const begin = before.lastIndexOf(opening) + opening.length;
    const answer = Buffer.from(answerTo(before.toString('utf8', 0, begin)), 'utf8');
    return answer.subarray(before.length - begin);
  };
}

export const scriptedSpec = loadSpec({ numCtx: 1024, parallel: 2, draftTokens: 0 });

const END = 256;
const SIZE = 257;

const vocabulary: Vocabulary = {
  size: SIZE,
  bosText: '',
  eosText: '',
  controlTexts: ['<|im_start|>', '<|im_end|>'],
  userDefinedTexts: [],
  separateTexts: [],
  prependToken: null,
  appendToken: null,
  pair: { first: [], between: [END], last: [] },
  gap: null,
  endTokens: [END],
  leastTokens: (bytes) => bytes,
  tokenize: (text) => Uint32Array.from(Buffer.from(text, 'utf8')),
  tokenizeNext: (text) => Uint32Array.from(Buffer.from(text, 'utf8')),
  tokenBytes: (token) => (token === END ? new Uint8Array() : Uint8Array.of(token)),
  isPlain: (token) => token !== END,
  controlText: (token) => (token === END ? '<end>' : null),
  isEnd: (token) => token === END,
};

/** Counts what was evaluated, so that a test sees what was reused. */
export interface Evaluated {
  tokens: number;
  decodes: number;
  /** Rows of images. */
  imageRows: number;
  /** Images that were encoded. */
  encodes: number;
}

export type OnDecode = (threads: number, rows: number, read: CallRead) => void;

/** What a call reads. */
export interface CallRead {
  /** Tokens before its last row. */
  readonly depth: number;
  readonly flashAttention: boolean;
}

export function scriptedBackend(
  script: Script,
  onDecode: OnDecode = () => undefined,
  logit = 1,
): { backend: NativeBackend; evaluated: Evaluated } {
  const evaluated: Evaluated = { tokens: 0, decodes: 0, imageRows: 0, encodes: 0 };
  const open = (numCtx: number): NativeContext =>
    scriptedContext(numCtx, { script, evaluated, onDecode, logit });
  const sampler = (): NativeSampler => ({ configure: () => undefined, dispose: () => undefined });
  const model: NativeModel = {
    facts: {
      weightsBytes: 1,
      trainedCtx: 4096,
      embeddingWidth: 3,
      gpuLayers: 0,
      usesMmap: true,
      chatTemplate: null,
      toolTemplate: null,
      rerankTemplate: null,
      ropeCtx: null,
      past: { holds: 'every token' },
    },
    vocabulary,
    newContext: async ({ numCtx }) => open(numCtx),
    openAdapter: async (path) => ({ path }),
    openProjector: async () => scriptedProjector(evaluated),
    newSampler: sampler,
    newGrammar: (gbnf) => ({ gbnf }),
  };
  const backend: NativeBackend = {
    facts: { folder: '', mapped: [], systemInfo: '', gpu: 'none', cpuMathCores: 2 },
    devices: () => [],
    samplersFor: () => [],
    host: () => ({ pid: process.pid, mapped: [], cpuFeatures: '', libc: '' }),
    openTexts: async () => ({ vocabulary, chatTemplate: null, toolTemplate: null }),
    openModel: async () => model,
    refusedOptions: () => [],
    measure: async () => [],
    isOutOfMemory: () => false,
    readsMedia: true,
  };
  return { backend, evaluated };
}

/** Rows of an image that the scripted projector makes, each of one number. */
export const SCRIPTED_ROWS = 8;

/** Between two marks stand rows that spell the last bytes of a file; one that says `damaged` is. */
function scriptedProjector(evaluated: Evaluated): NativeProjector {
  return {
    seesImages: true,
    hearsAudio: true,
    prepare: async (file) => {
      const bytes = 'rgb' in file ? file.rgb : file;
      const pixels = createHash('sha256').update(bytes).digest('hex');
      if (Buffer.from(bytes).includes('damaged')) throw new Error('its data is damaged');
      return {
        pixels,
        parts: [
          { kind: 'tokens', tokens: Uint32Array.from(Buffer.from('(')) },
          { kind: 'rows', rows: SCRIPTED_ROWS, positions: SCRIPTED_ROWS, isWhole: true, planes: null },
          { kind: 'tokens', tokens: Uint32Array.from(Buffer.from(')')) },
        ],
        encode: async () => {
          evaluated.encodes += 1;
          return Float32Array.from(bytes.subarray(-SCRIPTED_ROWS));
        },
        dispose: () => undefined,
      };
    },
  };
}

interface Scripted {
  readonly script: Script;
  readonly evaluated: Evaluated;
  readonly onDecode: OnDecode;
  /** The largest of every row. */
  readonly logit: number;
}

/** The state of a sequence as llama.cpp would write it, with each token in the place of its keys. */
function stateOf(tokens: readonly number[], flashAttention: boolean): Uint8Array {
  const values = flashAttention ? [[0, 4]] : [[0, 4, 1]];
  const layout = { magic: 1, streams: 1, transposed: !flashAttention, keys: [[0, 4]], values } as const;
  const builder = new StateBuilder(layout, { start: 0, tokens: tokens.length });
  const rows = Buffer.from(Uint32Array.from(tokens).buffer);
  builder.add({ start: 0, held: tokens.length, used: tokens.length }, () => rows);
  return builder.bytes;
}

function tokensOf(bytes: Uint8Array, flashAttention: boolean): number[] | null {
  const tokens = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
  const state = readState(bytes, tokens);
  if (state === null || state.layout.transposed === flashAttention) return null;
  const rows = Buffer.from(copyRows(state, 0, tokens));
  return Array.from({ length: tokens }, (_, i) => rows.readUInt32LE(i * 4));
}

function scriptedContext(numCtx: number, { script, evaluated, onDecode, logit }: Scripted): NativeContext {
  let threads = 1;
  const sequences = new Map<number, number[]>();
  const held = (sequence: number): number[] => sequences.get(sequence) ?? [];
  /** What stands before each batch row's logits, that token included. */
  let rows: number[][] = [];
  let evaluatedRows = 0;
  let depth = 0;
  let flashAttention = true;
  const decodeBatch = (): void => {
    evaluated.decodes += 1;
    onDecode(threads, evaluatedRows, { depth, flashAttention });
  };
  return {
    numCtx,
    batchTokens: 512,
    get flashAttention() {
      return flashAttention;
    },
    pooling: 'mean',
    memory: () => [],
    setThreads: (count) => {
      threads = count;
    },
    getThreads: () => threads,
    setAdapters: () => undefined,
    initBatch: () => {
      rows = [];
      evaluatedRows = 0;
    },
    addToBatch(sequence, firstPosition, tokens, logitsOf) {
      const all = [...held(sequence).slice(0, firstPosition), ...tokens];
      if (all.length !== firstPosition + tokens.length) throw new Error('a position was left out');
      sequences.set(sequence, all);
      evaluated.tokens += tokens.length;
      evaluatedRows += tokens.length;
      depth = firstPosition + tokens.length - 1;
      return logitsOf.map((index) => rows.push(all.slice(0, firstPosition + index + 1)) - 1);
    },
    decodeRows({ sequence, values, positions }) {
      const first = positions[0] ?? 0;
      const all = [...held(sequence).slice(0, first), ...Array.from(values, (value) => value % SIZE)];
      if (all.length !== first + values.length) throw new Error('a position was left out');
      sequences.set(sequence, all);
      evaluated.imageRows += values.length;
      onDecode(threads, values.length, { depth: first + values.length - 1, flashAttention });
    },
    decodeBatch,
    decodeOnThread: () =>
      new Promise((resolve) => {
        setImmediate(() => {
          decodeBatch();
          resolve();
        });
      }),
    sample: (batchRow) => script(Buffer.from(rows[batchRow] ?? []))[0] ?? END,
    readLogits: () => ({
      of: [{ token: END, logit }],
      largest: logit,
      totalWeight: () => 1,
      tokenRank: () => 1,
    }),
    embedding: (sequence) => Float32Array.of(held(sequence).length, 0, 0),
    cutSequence(sequence, length) {
      sequences.set(sequence, held(sequence).slice(0, length));
      return true;
    },
    sequenceBytes: (sequence) => stateOf(held(sequence), flashAttention).length,
    saveSequence: (sequence) => stateOf(held(sequence), flashAttention),
    loadSequence(sequence, state) {
      const tokens = tokensOf(state, flashAttention);
      sequences.set(sequence, tokens ?? []);
      return tokens !== null;
    },
    appendsState: false,
    appendSequence: () => false,
    clearSequence: (sequence) => void sequences.delete(sequence),
    copySequence: (target, source) => void sequences.set(target, [...held(source)]),
    firstPosition: () => 0,
    takeCheckpoint: () => ({ lastPosition: -1, dispose: () => undefined }),
    restoreCheckpoint: () => false,
    reopen(attention) {
      flashAttention = attention.flashAttention ?? true;
      sequences.clear();
    },
    dispose: () => undefined,
  };
}
