import koffi from 'koffi';
import type { Batch } from './library/layouts.ts';
import type { Library } from './library/open.ts';

const WORD = 4;

interface BatchTokens {
  readonly sequence: number;
  readonly firstPosition: number;
  readonly tokens: Uint32Array;
  readonly wantedLogits: Uint32Array;
}

export class NativeBatch {
  readonly #library: Library;
  readonly #batch: Batch;
  readonly #mostRows: number;
  readonly #mostLogits: number;
  readonly #tokens: Int32Array;
  readonly #positions: Int32Array;
  readonly #counts: Int32Array;
  readonly #sequences: readonly Int32Array[];
  readonly #wantsLogits: Int8Array;
  #room = 0;
  #rows = 0;
  #logits = 0;

  constructor(library: Library, mostRows: number, mostLogits: number) {
    this.#library = library;
    this.#mostRows = mostRows;
    this.#mostLogits = mostLogits;
    this.#batch = library.llama_batch_init(mostRows, 0, 1);
    this.#tokens = new Int32Array(koffi.view(this.#batch.token ?? 0n, mostRows * WORD));
    this.#positions = new Int32Array(koffi.view(this.#batch.pos, mostRows * WORD));
    this.#counts = new Int32Array(koffi.view(this.#batch.n_seq_id, mostRows * WORD));
    this.#wantsLogits = new Int8Array(koffi.view(this.#batch.logits, mostRows));
    const ids = koffi.decode(this.#batch.seq_id, koffi.array('void*', mostRows)) as bigint[];
    this.#sequences = ids.map((id) => new Int32Array(koffi.view(id, WORD)));
  }

  get filled(): Batch {
    return { ...this.#batch, n_tokens: this.#rows };
  }

  clear(room: number): void {
    if (room <= 0 || room > this.#mostRows)
      throw new RangeError(`a batch has room for ${this.#mostRows} tokens`);
    this.#room = room;
    this.#rows = 0;
    this.#logits = 0;
  }

  add({ sequence, firstPosition, tokens, wantedLogits }: BatchTokens): Uint32Array {
    if (this.#rows + tokens.length > this.#room) throw new RangeError('the batch has no room for the tokens');
    // More logits than the context was opened for would abort the process.
    this.#logits += wantedLogits.length;
    if (this.#logits > this.#mostLogits) throw new RangeError(`logits are kept of ${this.#mostLogits} rows`);
    const first = this.#rows;
    for (const [at, token] of tokens.entries())
      this.#write(first + at, { token, position: firstPosition + at, sequence });
    const rows = wantedLogits.map((index) => first + index);
    for (const row of rows) this.#wantsLogits[row] = 1;
    this.#rows += tokens.length;
    return rows;
  }

  lastRow(sequence: number): number {
    for (let row = this.#rows - 1; row >= 0; row -= 1) if (this.#sequences[row]?.[0] === sequence) return row;
    return -1;
  }

  dispose(): void {
    this.#library.llama_batch_free(this.#batch);
  }

  #write(
    row: number,
    { token, position, sequence }: { token: number; position: number; sequence: number },
  ): void {
    this.#tokens[row] = token;
    this.#positions[row] = position;
    this.#counts[row] = 1;
    const ids = this.#sequences[row];
    if (ids !== undefined) ids[0] = sequence;
    this.#wantsLogits[row] = 0;
  }
}

/** A batch of rows without tokens. `held` is the memory that it points to; call with it within `lending`. */
export function mediumBatch(
  values: Float32Array,
  width: number,
  { sequence, positions }: { readonly sequence: number; readonly positions: Int32Array },
): { readonly batch: Batch; readonly held: readonly object[] } {
  const rows = values.length / width;
  if (!Number.isInteger(rows) || positions.length % rows !== 0) {
    throw new RangeError(
      `${values.length} numbers are not rows of ${width} with ${positions.length} positions`,
    );
  }
  const counts = new Int32Array(rows).fill(1);
  const id = Int32Array.of(sequence);
  const ids = new BigUint64Array(rows).fill(koffi.address(id));
  const logits = new Int8Array(rows);
  return {
    batch: {
      n_tokens: rows,
      token: null,
      embd: koffi.address(values),
      pos: koffi.address(positions),
      n_seq_id: koffi.address(counts),
      seq_id: koffi.address(ids),
      logits: koffi.address(logits),
    },
    held: [values, positions, counts, id, ids, logits],
  };
}
