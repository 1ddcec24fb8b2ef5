/**
 * Selects passages of attached files by vectors of the service's embedding model when the message is sent. Vectors
 * are kept until the page is closed.
 */
import { signal } from '@preact/signals';
import type { EmbeddingRequest, EmbeddingResponse } from '../../../src/wire/inference/embeddings.ts';
import { count } from '../../parts/figures.ts';
import { askJson, isAbort, sentenceOf } from '../../service/client.ts';
import { isLocal, modelNamed, models } from '../../service/known.ts';
import { workFor } from './at-work.ts';
import type { Attachment } from './attachments.ts';
import type { Lane } from './conversation.ts';
import { bestPassages, likeness, MOST_PASSAGES, type Passage, passagesOf } from './passages.ts';

export interface Search {
  readonly name: string;
  readonly done: number;
  readonly all: number;
  readonly abort: AbortController;
}

export const searches = signal<Readonly<Record<string, Search>>>({});

function setSearch(draft: string, search: Search | null): void {
  const { [draft]: _, ...others } = searches.value;
  searches.value = search === null ? others : { ...others, [draft]: search };
}

/** Passages per request, so that progress shows and other clients get turns. */
const BATCH = 8;
/** Files with vectors; the least recently used are dropped. */
const MOST_KEPT = 4;

interface Kept {
  readonly model: string;
  readonly text: string;
  readonly vectors: Float32Array[];
}
let kept: readonly Kept[] = [];

export const embeddingModel = (): string | undefined =>
  models.value
    .filter(({ kind }) => kind === 'embedding')
    .toSorted((a, b) => Number(isLocal(b)) - Number(isLocal(a)))[0]?.id;

export function toggleSearch<File extends Attachment>(file: File): File {
  const { passages, ...whole } = file;
  return passages === undefined ? { ...file, passages: [] } : (whole as File);
}

export function leastWindow(lanes: readonly Lane[]): number | undefined {
  const windows = lanes.flatMap(({ model }) => modelNamed(model)?.context_length ?? []);
  return windows.length === 0 ? undefined : Math.min(...windows);
}

export const isToSearch = ({ passages }: Attachment): boolean => passages?.length === 0;

interface Wanted<File> {
  readonly conversation: string;
  /** Null: for its unsent message. */
  readonly entry: string | null;
  readonly draft: string;
  readonly question: string;
  readonly files: readonly File[];
  /** In tokens. */
  readonly window: number | undefined;
}

/** Null: it was stopped, or what it was for was removed. Throws a sentence for the user. */
export async function searchFiles<File extends Attachment>({
  conversation,
  entry,
  draft,
  question,
  files,
  window,
}: Wanted<File>): Promise<File[] | null> {
  const model = embeddingModel();
  if (model === undefined)
    throw new Error('No embedding model is installed, so files are sent whole; install one under Models.');
  const abort = new AbortController();
  const endWork = workFor(conversation, entry, abort);
  try {
    const found: File[] = [];
    for (const file of files) {
      if (!isToSearch(file)) {
        found.push(file);
        continue;
      }
      const passages = passagesOf(file.text);
      if (passages.length > MOST_PASSAGES) throw tooLong(file.name, passages.length);
      const show = (done: number): void =>
        setSearch(draft, { name: file.name, done, all: passages.length, abort });
      const vectors = await vectorsOf(file.text, passages, { model, signal: abort.signal, show });
      const [asked = new Float32Array()] = await embed(model, [question], abort.signal);
      const scores = vectors.map((vector) => likeness(asked, vector));
      found.push({ ...file, passages: bestPassages(passages, scores, window) });
    }
    abort.signal.throwIfAborted();
    return found;
  } catch (error) {
    if (isAbort(error)) return null;
    throw new Error(`The files could not be searched: ${sentenceOf(error)}`, { cause: error });
  } finally {
    endWork();
    setSearch(draft, null);
  }
}

const tooLong = (name: string, length: number): Error =>
  new Error(
    `${name} has ${count(length)} passages, and at most ${count(MOST_PASSAGES)} are searched; attach a part of it.`,
  );

interface How {
  readonly model: string;
  readonly signal: AbortSignal;
  readonly show: (done: number) => void;
}

/** Keeps the vectors of a stopped search for the next one. */
async function vectorsOf(
  text: string,
  passages: readonly Passage[],
  { model, signal: end, show }: How,
): Promise<readonly Float32Array[]> {
  const entry = kept.find((each) => each.model === model && each.text === text) ?? {
    model,
    text,
    vectors: [],
  };
  kept = [entry, ...kept.filter((each) => each !== entry)].slice(0, MOST_KEPT);
  const { vectors } = entry;
  show(vectors.length);
  while (vectors.length < passages.length) {
    const begin = vectors.length;
    const texts = passages.slice(begin, begin + BATCH).map(({ from, to }) => text.slice(from, to));
    const found = await embed(model, texts, end);
    // Another search of the same file may have put the same ones there.
    vectors.splice(begin, found.length, ...found);
    show(vectors.length);
  }
  return vectors;
}

async function embed(model: string, input: string[], end: AbortSignal): Promise<Float32Array[]> {
  // A passage of signs may exceed the model's input; its beginning is enough to find it.
  const body: EmbeddingRequest = { model, input, encoding_format: 'base64', truncate: true };
  const { data } = await askJson<EmbeddingResponse>('/v1/embeddings', { body, signal: end });
  if (data.length !== input.length)
    throw new Error('The service returned another number of vectors than texts.');
  return data.map(({ embedding }) =>
    typeof embedding === 'string' ? numbersOf(embedding) : Float32Array.from(embedding),
  );
}

/** Little-endian, four bytes a number. */
function numbersOf(base64: string): Float32Array {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0);
  return new Float32Array(bytes.buffer);
}
