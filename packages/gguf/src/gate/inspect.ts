/**
 * gguf/gate owns the decision whether a file is safe for llama.cpp, and the facts in its header. It reads the header
 * only, trusts no number in it, and refuses with one sentence. It knows nothing of the store. Only a trial load in a
 * worker finds the rest: NaN weights, architectures that this llama.cpp does not support.
 */
import { type AdapterFacts, readAdapter, type TensorShapes } from './adapter.ts';
import { GgufError } from '../gguf-error.ts';
import { type OpenFile, openFile } from '../open-file.ts';
import { HeaderCursor, type Refuse } from '../format/cursor.ts';
import { collectFacts, expertBytes, type GgufFacts, tensorBytes } from './facts.ts';
import { type Header, type HeaderValue, readHeader, type Span } from '../format/header.ts';
import { Lookup } from '../format/lookup.ts';
import { checkMagic, SNIFF_BYTES } from './recognise.ts';
import { checkTensorNames, readShape } from './shape-checks.ts';
import { checkNumbers } from './number-checks.ts';
import { type ProjectorFacts, readProjector } from './projector.ts';
import { readSplit, type SplitPart } from './split-checks.ts';
import { readChatTemplate } from './template-checks.ts';
import type { VocabularyFacts } from './draft-vocabulary.ts';
import { checkVocabulary, vocabularyFacts } from './tokens/vocabulary-checks.ts';
import type { TensorInfo } from '../format/tensor-table.ts';

/** A later part of a split model; only its structure can be checked alone. */
export interface GgufPart extends SplitPart {
  readonly sizeBytes: number;
  readonly tensorBytes: number;
  readonly expertBytes: readonly number[];
  readonly headerSha256: string;
}

/** Throws a `GgufError`, or the error of `open` or the system if the file cannot be read. */
export async function inspectGguf(path: string, open: OpenFile = openFile): Promise<GgufFacts> {
  return withHeader(path, open, judgeModel);
}

export async function inspectModelOrAdapter(
  path: string,
  open: OpenFile = openFile,
): Promise<GgufFacts | AdapterFacts> {
  return withHeader(path, open, (opened) => {
    const { header, lookup, sizeBytes } = opened;
    return lookup.text('general.type') === 'adapter'
      ? readAdapter(header, lookup, sizeBytes)
      : judgeModel(opened);
  });
}

/** Inspects a projector file, which adds image or audio input to a model. */
export async function inspectProjector(path: string, open: OpenFile = openFile): Promise<ProjectorFacts> {
  return withHeader(path, open, ({ header, lookup, sizeBytes }) => readProjector(header, lookup, sizeBytes));
}

export async function readVocabularyFacts(path: string, open: OpenFile = openFile): Promise<VocabularyFacts> {
  return withHeader(path, open, ({ header, lookup }) => vocabularyFacts(header, lookup));
}

/** Tensor sizes of one file, row length first. */
export async function readTensorShapes(path: string, open: OpenFile = openFile): Promise<TensorShapes> {
  return withHeader(
    path,
    open,
    ({ header }) => new Map(header.tensors.map(({ name, dims }) => [name, dims])),
  );
}

/** Place of a tensor's values; equal type, shape and bytes mean equal tensors. */
export interface TensorPlace extends Span {
  readonly type: string;
  readonly shape: string;
  readonly weights: number;
}

/** Place of a metadata value with its type, and its description. */
export interface ValuePlace extends Span {
  readonly words: string;
}

export interface Contents {
  readonly tensors: ReadonlyMap<string, TensorPlace>;
  readonly values: ReadonlyMap<string, ValuePlace>;
}

export async function readContents(path: string, open: OpenFile = openFile): Promise<Contents> {
  return withHeader(path, open, ({ header: { tensors, dataOffset, metadata, spans } }) => ({
    tensors: new Map(
      tensors.map(({ name, type, dims, elements, offset, bytes }) => [
        name,
        {
          type: type.name,
          shape: dims.join(' x '),
          weights: Number(elements),
          from: dataOffset + Number(offset),
          bytes: Number(bytes),
        },
      ]),
    ),
    values: new Map(
      [...spans].flatMap(([key, span]) => {
        const value = metadata.get(key);
        return value === undefined ? [] : [[key, { ...span, words: valueWords(value) }] as const];
      }),
    ),
  }));
}

const SHOWN_ITEMS = 8;
const SHOWN_CHARACTERS = 60;
const F32_DIGITS = 7;

function valueWords(value: HeaderValue): string {
  if (value.type === 'array') {
    const { count, items } = value;
    return items === undefined || count > SHOWN_ITEMS
      ? `${count} values`
      : `[${items.map(shortly).join(', ')}]`;
  }
  const { value: scalar, bytes } = value;
  if (typeof scalar === 'string' && scalar.length <= SHOWN_CHARACTERS) return JSON.stringify(scalar);
  return scalar === undefined || typeof scalar === 'string' ? `a text of ${bytes} bytes` : shortly(scalar);
}

const shortly = (value: number | bigint | boolean): string =>
  typeof value === 'number' && !Number.isInteger(value)
    ? String(Number(value.toPrecision(F32_DIGITS)))
    : String(value);

/** Never multiplied with rows of activations, whatever their type: lookups, convolutions, or per-channel rates. */
const NOT_MULTIPLIED = /(^position_embd|conv|ssm_a$|ssm_d$)/;

/** Types of matrices multiplied with activations, by the library's names. */
export async function readMatrixTypes(path: string, open: OpenFile = openFile): Promise<ReadonlySet<string>> {
  return withHeader(path, open, ({ header: { tensors } }) => {
    // A model without output weights multiplies with its embeddings.
    const hasOutput = tensors.some(({ name }) => name === 'output.weight');
    const multiplied = tensors.filter(
      ({ name, dims }) =>
        dims.length > 1 &&
        !NOT_MULTIPLIED.test(name.replace(/\.(weight|bias)$/, '')) &&
        !(hasOutput && name === 'token_embd.weight'),
    );
    return new Set(multiplied.map(({ type }) => type.name));
  });
}

export async function readTemplateText(path: string, open: OpenFile = openFile): Promise<string | null> {
  return withHeader(path, open, ({ lookup }) => lookup.text('tokenizer.chat_template') ?? null);
}

const SAMPLING_KEYS = 'general.sampling.';

/** Sampling settings recommended by the model's maker, keyed without `general.sampling.`. */
export async function readMakerDefaults(
  path: string,
  open: OpenFile = openFile,
): Promise<Record<string, number>> {
  return withHeader(path, open, ({ header }) => {
    const numbers = [...header.metadata].flatMap(([key, entry]) =>
      key.startsWith(SAMPLING_KEYS) && 'value' in entry && typeof entry.value === 'number'
        ? [[key.slice(SAMPLING_KEYS.length), entry.value] as const]
        : [],
    );
    return Object.fromEntries(numbers);
  });
}

/** Like `inspectGguf`, for later parts, which contain tensors and no description. */
export async function inspectGgufPart(path: string, open: OpenFile = openFile): Promise<GgufPart> {
  return withHeader(path, open, ({ header, lookup, sizeBytes, split }) => {
    if (!split) return lookup.refuse('it is not a part of a split model');
    checkTensorTypes(header, lookup);
    return {
      ...split,
      sizeBytes,
      tensorBytes: tensorBytes(header),
      expertBytes: expertBytes(header),
      headerSha256: header.sha256,
    };
  });
}

function judgeModel({ header, lookup, sizeBytes, split }: Opened): GgufFacts {
  if (split && split.index > 0)
    lookup.refuse(`it is part ${split.index + 1} of ${split.count}; name the first part`);

  const shape = readShape(lookup);
  checkNumbers(lookup, shape);
  checkTensorTypes(header, lookup);
  checkTensorNames({ header, shape, isWholeModel: split === undefined, lookup });
  checkVocabulary(header, lookup);
  const chatTemplate = readChatTemplate(lookup);
  return collectFacts({ header, lookup, shape, chatTemplate, split, sizeBytes });
}

interface Opened {
  readonly header: Header;
  readonly lookup: Lookup;
  readonly sizeBytes: number;
  readonly split: SplitPart | undefined;
}

async function withHeader<Result>(
  path: string,
  open: OpenFile,
  judge: (opened: Opened) => Result,
): Promise<Result> {
  const refuse: Refuse = (reason) => {
    throw new GgufError(reason);
  };
  const { file, sizeBytes } = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, 0);
    checkMagic(buffer.subarray(0, bytesRead), refuse);
    const header = await readHeader(new HeaderCursor(file, sizeBytes, refuse), sizeBytes, refuse);
    const lookup = new Lookup(header.metadata, refuse);
    return judge({ header, lookup, sizeBytes, split: readSplit(path, lookup) });
  } finally {
    await file.close();
  }
}

/** No operation uses these as weights; the last two only contain activations. */
const NO_WEIGHTS = new Set(['I8', 'I16', 'I32', 'I64', 'F64', 'Q8_1', 'Q8_K']);
const TABLE = /tid2eid/;
/** Added to or multiplied with activations elementwise, which is implemented for one type only. */
const ELEMENTWISE = /norm|\.bias$|\.ssm_(?:a|d|conv1d)\b|sinks|^token_types\./;

function checkTensorTypes({ tensors }: Header, lookup: Lookup): void {
  for (const tensor of tensors) {
    const { name, type } = tensor;
    if (NO_WEIGHTS.has(type.name) && !TABLE.test(name))
      lookup.refuse(`tensor "${name}" is stored as ${type.name}, which is no type for weights`);
    if (isElementwise(tensor) && type.name !== 'F32')
      lookup.refuse(`tensor "${name}" is stored as ${type.name} where F32 is required`);
  }
}

const isElementwise = ({ name, dims }: TensorInfo): boolean =>
  !TABLE.test(name) && (dims.length <= 1 || ELEMENTWISE.test(name));
