/** What libmtmd itself makes of a prompt with images: the logits behind it, by mtmd_helper_eval_chunks, with nothing of Hearth. */
import koffi from 'koffi';
import { findLibraries, mediaLibrary, ownLibrary } from '../../src/lib/files/native-library.ts';
import type { Pointer } from '../../packages/llama-api/src/structs.ts';
import { openMediaLibrary, type MediaLibrary } from '../../src/worker/addon/media-library.ts';
import { type Library, openLibrary } from '../../src/worker/addon/library/open.ts';

const MARK = '<__media__>';

export class Reference {
  readonly #library: Library;
  readonly #media: MediaLibrary;
  readonly #model: Pointer;
  readonly #projector: Pointer;
  readonly #evaluate: (...args: unknown[]) => number;

  /** In a process that has started the backends of these libraries. */
  constructor(libraries: string, model: string, projector: string) {
    const files = ownLibrary(libraries) ?? findLibraries('cpu', libraries);
    if (files === null) throw new Error('there is no llama.cpp');
    const file = mediaLibrary(files, libraries) ?? '';
    this.#library = openLibrary(files);
    this.#media = openMediaLibrary(file);
    const defaults = this.#library.llama_model_default_params();
    this.#model = this.#library.llama_model_load_from_file(model, { ...defaults, n_gpu_layers: 0 }) ?? 0n;
    const params = this.#media.mtmd_context_params_default();
    const quiet = { use_gpu: false, n_threads: 1, print_timings: false, warmup: false };
    this.#projector = this.#media.mtmd_init_from_file(projector, this.#model, { ...params, ...quiet }) ?? 0n;
    this.#evaluate = koffi
      .load(file)
      .func('int32 mtmd_helper_eval_chunks(void*, void*, void*, int32, int32, int32, bool, _Out_ int32*)');
  }

  /** `alone`: the last token is evaluated in a call of its own, as behind state that is kept. */
  logits(prompt: string, images: readonly Buffer[], { alone = false } = {}): Float32Array {
    const chunks = this.#chunks(prompt, images);
    const context = this.#context();
    try {
      const past: [number] = [0];
      const failed = this.#evaluate(this.#projector, context, chunks, 0, 0, 512, !alone, past);
      if (failed !== 0) throw new Error(`mtmd_helper_eval_chunks failed with ${failed}`);
      if (alone) this.#evaluateLast(context, chunks, past[0]);
      return this.#logits(context);
    } finally {
      this.#library.llama_free(context);
      this.#media.mtmd_input_chunks_free(chunks);
    }
  }

  /** The last token once more, where it was evaluated before. */
  #evaluateLast(context: Pointer, chunks: Pointer, past: number): void {
    const last = this.#media.mtmd_input_chunks_get(chunks, this.#media.mtmd_input_chunks_size(chunks) - 1);
    const count = this.#media.mtmd_input_chunk_get_n_tokens(last);
    const tokens = this.#media.mtmd_input_chunk_get_tokens_text(last, [0]);
    const token = (koffi.decode(tokens, koffi.array('int32', count)) as number[]).at(-1) ?? 0;
    this.#library.llama_memory_seq_rm(this.#library.llama_get_memory(context), 0, past - 1, -1);
    const row = { token: Int32Array.of(token), pos: Int32Array.of(past - 1), n: Int32Array.of(1) };
    const id = Int32Array.of(0);
    const ids = BigUint64Array.of(koffi.address(id));
    const wants = Int8Array.of(1);
    const failed = this.#library.llama_decode(context, {
      n_tokens: 1,
      token: koffi.address(row.token),
      embd: null,
      pos: koffi.address(row.pos),
      n_seq_id: koffi.address(row.n),
      seq_id: koffi.address(ids),
      logits: koffi.address(wants),
    });
    if (failed !== 0) throw new Error(`llama_decode failed with ${failed}`);
  }

  #chunks(prompt: string, images: readonly Buffer[]): Pointer {
    const media = this.#media;
    const bitmaps = images.map((bytes) => {
      const options = media.mtmd_helper_init_opt_default();
      return (
        media.mtmd_helper_bitmap_init_from_buf(this.#projector, bytes, bytes.length, false, options).bitmap ??
        0n
      );
    });
    const chunks = media.mtmd_input_chunks_init();
    const text = prompt.replaceAll('[image]', MARK);
    const asked = { text, text_len: Buffer.byteLength(text), add_special: false, parse_special: true };
    const failed = media.mtmd_tokenize(this.#projector, chunks, asked, bitmaps, bitmaps.length);
    for (const bitmap of bitmaps) media.mtmd_bitmap_free(bitmap);
    if (failed !== 0) throw new Error(`mtmd_tokenize failed with ${failed}`);
    return chunks;
  }

  #context(): Pointer {
    const context = this.#library.llama_init_from_model(this.#model, {
      ...this.#library.llama_context_default_params(),
      n_ctx: 2048,
      n_batch: 512,
      n_ubatch: 512,
      n_seq_max: 1,
      n_threads: 1,
      n_threads_batch: 1,
      swa_full: false,
    });
    if (context === null) throw new Error('no context could be opened');
    return context;
  }

  #logits(context: Pointer): Float32Array {
    const vocabulary = this.#library.llama_vocab_n_tokens(this.#library.llama_model_get_vocab(this.#model));
    const found = this.#library.llama_get_logits_ith(context, -1);
    if (found === null) throw new Error('there are no logits');
    return new Float32Array(koffi.view(found, vocabulary * 4)).slice();
  }
}
