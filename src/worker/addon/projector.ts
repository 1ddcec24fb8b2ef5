import { webcrypto } from 'node:crypto';
import koffi from 'koffi';
import { CHUNK_TYPES } from '../../../packages/llama-api/src/media.ts';
import { Turns } from '../../lib/base/turns.ts';
import type { MediumPart, NativeMedium, NativeProjector, Pixels } from '../native.ts';
import type { Pointer } from './library/layouts.ts';
import { onThread } from './library/on-thread.ts';
import type { NativeLog } from './library/log.ts';
import type { MediaLibrary } from './media-library.ts';

interface OpenedProjector {
  readonly library: MediaLibrary;
  readonly log: NativeLog;
  readonly pointer: Pointer;
  readonly width: number;
}

export class ProjectorHandle implements NativeProjector {
  readonly seesImages: boolean;
  readonly hearsAudio: boolean;
  readonly #opened: OpenedProjector;
  /** A context of the library supports one thread only. */
  readonly #turns = new Turns();

  constructor(opened: OpenedProjector) {
    const { library, pointer } = opened;
    this.#opened = opened;
    this.seesImages = library.mtmd_support_vision(pointer);
    this.hearsAudio = library.mtmd_support_audio(pointer);
  }

  prepare(medium: Uint8Array | Pixels): Promise<NativeMedium> {
    return this.#turns.run(() => prepare(this.#opened, this.#turns, medium));
  }
}

async function prepare(
  opened: OpenedProjector,
  turns: Turns,
  medium: Uint8Array | Pixels,
): Promise<NativeMedium> {
  const { library, log, pointer: context } = opened;
  log.clear();
  const bitmap = await openBitmap(opened, medium);
  if (bitmap === null) throw new Error('its data is damaged');
  const chunks = library.mtmd_input_chunks_init();
  try {
    const pixels = await pixelDigest(library, bitmap);
    const text = library.mtmd_context_params_default().media_marker;
    const asked = { text, text_len: text.length, add_special: false, parse_special: true };
    const refused = await onThread<number>((done) =>
      library.mtmd_tokenize.async(context, chunks, asked, [bitmap], 1, done),
    );
    if (refused !== 0) throw new Error(log.reason('the projector cannot cut it up'));
    return new MediumHandle(opened, turns, { chunks, pixels });
  } catch (error) {
    library.mtmd_input_chunks_free(chunks);
    throw error;
  } finally {
    library.mtmd_bitmap_free(bitmap);
  }
}

async function openBitmap(
  { library, pointer }: OpenedProjector,
  medium: Uint8Array | Pixels,
): Promise<Pointer | null> {
  if ('rgb' in medium) {
    const { width, height, rgb } = medium;
    return onThread((done) => library.mtmd_bitmap_init.async(width, height, rgb, done));
  }
  const options = library.mtmd_helper_init_opt_default();
  const { bitmap } = await onThread<{ bitmap: Pointer | null }>((done) =>
    library.mtmd_helper_bitmap_init_from_buf.async(pointer, medium, medium.length, false, options, done),
  );
  return bitmap;
}

/** On another thread: a photo has up to 120 MB of pixels, and steps continue meanwhile. */
async function pixelDigest(library: MediaLibrary, bitmap: Pointer): Promise<string> {
  const kind = library.mtmd_bitmap_is_audio(bitmap) ? 'audio ' : '';
  const size = `${kind}${library.mtmd_bitmap_get_nx(bitmap)}x${library.mtmd_bitmap_get_ny(bitmap)}`;
  const data = koffi.view(library.mtmd_bitmap_get_data(bitmap), library.mtmd_bitmap_get_n_bytes(bitmap));
  const digest = await webcrypto.subtle.digest('SHA-256', new Uint8Array(data));
  return `${size} ${Buffer.from(digest).toString('hex')}`;
}

const MOST_TRIES = 3;

class MediumHandle implements NativeMedium {
  readonly pixels: string;
  readonly parts: readonly MediumPart[];
  readonly #opened: OpenedProjector;
  readonly #turns: Turns;
  readonly #chunks: Pointer;
  #isFree = false;

  constructor(
    opened: OpenedProjector,
    turns: Turns,
    { chunks, pixels }: { readonly chunks: Pointer; readonly pixels: string },
  ) {
    this.#opened = opened;
    this.#turns = turns;
    this.#chunks = chunks;
    this.pixels = pixels;
    const count = opened.library.mtmd_input_chunks_size(chunks);
    this.parts = Array.from({ length: count }, (_, at) => toMediumPart(opened, this.#chunk(at)));
  }

  encode(part: number): Promise<Float32Array> {
    const { library, log, pointer, width } = this.#opened;
    return this.#turns.run(async () => {
      if (this.#isFree) throw new Error('it is no longer here');
      log.clear();
      const chunk = this.#chunk(part);
      const count = library.mtmd_input_chunk_get_n_tokens(chunk) * width;
      // Some graphs of the library scale uninitialised memory by zero.
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const failed = await onThread<number>((done) =>
          library.mtmd_encode_chunk.async(pointer, chunk, done),
        );
        const rows = failed === 0 ? library.mtmd_get_output_embd(pointer) : null;
        if (rows === null) throw new Error(log.reason('the projector cannot encode it'));
        const values = new Float32Array(koffi.view(rows, count * Float32Array.BYTES_PER_ELEMENT)).slice();
        if (values.every(Number.isFinite)) return values;
      }
      throw new Error('its projector computes values that are no numbers');
    });
  }

  dispose(): void {
    void this.#turns.run(async () => {
      if (!this.#isFree) this.#opened.library.mtmd_input_chunks_free(this.#chunks);
      this.#isFree = true;
    });
  }

  #chunk(at: number): Pointer {
    return this.#opened.library.mtmd_input_chunks_get(this.#chunks, at);
  }
}

function toMediumPart({ library, pointer }: OpenedProjector, chunk: Pointer): MediumPart {
  const rows = library.mtmd_input_chunk_get_n_tokens(chunk);
  if (library.mtmd_input_chunk_get_type(chunk) === CHUNK_TYPES.text) {
    const tokens = library.mtmd_input_chunk_get_tokens_text(chunk, [0]);
    const ids = tokens === null ? [] : (koffi.decode(tokens, koffi.array('int32', rows)) as number[]);
    // Tokens that the library inserts around images, and this model does not have.
    if (ids.some((id) => id < 0)) throw new Error('the vocabulary has no tokens for what stands around it');
    return { kind: 'tokens', tokens: Uint32Array.from(ids) };
  }
  const positions = library.mtmd_input_chunk_get_n_pos(chunk);
  const isWhole = library.mtmd_decode_use_non_causal(pointer, chunk);
  return { kind: 'rows', rows, positions, isWhole, planes: positionPlanes(library, pointer, chunk, rows) };
}

/** Positions of a row at two offsets: what differs between them moves along with the offset. */
function positionPlanes(
  library: MediaLibrary,
  context: Pointer,
  chunk: Pointer,
  rows: number,
): Extract<MediumPart, { kind: 'rows' }>['planes'] {
  if (!library.mtmd_decode_use_mrope(context)) return null;
  const image = library.mtmd_input_chunk_get_tokens_image(chunk);
  const at = (first: number): Uint32Array => {
    // Audio has no place in a picture: its rows follow each other like tokens.
    if (image === null) return Uint32Array.from({ length: 4 * rows }, (_, of) => first + Math.floor(of / 4));
    const found = new Uint32Array(4 * rows);
    library.mtmd_helper_image_get_decoder_pos(image, first, found);
    return found;
  };
  return { atZero: at(0), atOne: at(1) };
}
