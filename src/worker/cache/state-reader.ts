/**
 * Restores states: opens the blocks of a prompt in turn, assembles them, and hands them over in llama.cpp's format.
 * If the taker can append, it gets one block at a time, so that no state is in memory twice.
 */
import { type Pause, Staging } from './disk/block-folder.ts';
import { type HeldState, type HeldNode, piecesInRam } from './held-state.ts';
import type { UsedNode } from './prefixes/prefix-tree.ts';
import { StateBuilder } from './state-layout.ts';

export interface StateTaker {
  /** Parts may follow one another; else the state arrives whole. */
  readonly inParts: boolean;
  /** Takes the state of the next N tokens; its bytes are valid until the call returns. False: stop. */
  take(state: Uint8Array, tokens: number): boolean;
}

export interface ReadBack {
  readonly ramTokens: number;
  readonly diskTokens: number;
  readonly refusal: 'damaged' | 'evicted' | 'not_restored' | null;
}

interface StateSource {
  fetch(node: HeldNode, staging: Staging): Promise<Buffer | null>;
  decrypt(node: HeldNode, encrypted: Buffer, take: TakeRows): boolean;
  used(node: HeldNode): void;
  lost(node: HeldNode): void;
}

type NextBytes = (bytes: number) => Uint8Array;
type TakeRows = (next: NextBytes) => void;
type Used = UsedNode<HeldState>;

/** Two files, because one is read while the other is opened, and the state of a part. */
interface ReadMemory {
  readonly stagings: readonly [Staging, Staging];
  part?: Uint8Array;
}

export class StateReader {
  readonly #source: StateSource;
  /** Memory of finished reads. Several reads may run, and fresh memory would cost as much as reading. */
  readonly #memories: ReadMemory[] = [];

  constructor(source: StateSource) {
    this.#source = source;
  }

  async read(used: readonly Used[], pause: Pause, taker: StateTaker): Promise<ReadBack> {
    const memory: ReadMemory = this.#memories.pop() ?? { stagings: [new Staging(), new Staging()] };
    const fetch = (at: number): Promise<Buffer | null> => this.#fetch(used[at]?.node, memory, at);
    const taken = { ramTokens: 0, diskTokens: 0 };
    let fetched = fetch(0);
    let at = 0;
    try {
      for (const part of splitParts(used, taker.inParts)) {
        const state = new PartState(part, memory);
        const found = { ramTokens: 0, diskTokens: 0 };
        for (const each of part) {
          const { node, tokens } = each;
          const encrypted = await fetched;
          at += 1;
          fetched = fetch(at);
          await pause();
          found[node.payload.ram === null ? 'diskTokens' : 'ramTokens'] += tokens;
          if (!state.fits(node) || !this.#open(node, encrypted, (next) => state.add(each, next))) {
            const isGone = encrypted === null || node.payload.gone;
            this.#source.lost(node);
            return { ...taken, refusal: isGone ? 'evicted' : 'damaged' };
          }
          this.#source.used(node);
        }
        if (!taker.take(state.bytes, found.ramTokens + found.diskTokens))
          return { ...taken, refusal: 'not_restored' };
        taken.ramTokens += found.ramTokens;
        taken.diskTokens += found.diskTokens;
      }
      return { ...taken, refusal: null };
    } finally {
      await fetched;
      this.#memories.push(memory);
    }
  }

  async #fetch(node: HeldNode | undefined, { stagings }: ReadMemory, at: number): Promise<Buffer | null> {
    if (node === undefined || node.payload.ram !== null) return null;
    return this.#source.fetch(node, stagings[at % 2 === 0 ? 0 : 1]);
  }

  #open(node: HeldNode, encrypted: Buffer | null, take: TakeRows): boolean {
    const { ram } = node.payload;
    if (ram === null) return encrypted !== null && this.#source.decrypt(node, encrypted, take);
    take(inOrder(piecesInRam(ram)));
    return true;
  }
}

function splitParts(used: readonly Used[], inParts: boolean): (readonly Used[])[] {
  return inParts ? used.map((each) => [each]) : [used];
}

class PartState {
  bytes: Uint8Array = new Uint8Array();
  readonly #layout: HeldState['layout'];
  readonly #builder: StateBuilder | null;

  constructor(part: readonly Used[], memory: ReadMemory) {
    const [first] = part;
    this.#layout = first?.node.payload.layout ?? null;
    this.#builder = null;
    if (first === undefined || this.#layout === null) return;
    const tokens = part.reduce((sum, each) => sum + each.tokens, 0);
    const stretch = { start: first.node.start, tokens };
    this.#builder = new StateBuilder(this.#layout, stretch, part.length === 1 ? memory.part : undefined);
    this.bytes = this.#builder.bytes;
    if (part.length === 1) memory.part = this.bytes;
  }

  /** Rows of another form would not fit between the others. */
  fits({ payload }: HeldNode): boolean {
    return payload.layout === this.#layout;
  }

  add({ node, tokens }: Used, next: NextBytes): void {
    if (this.#builder === null) this.bytes = next(node.payload.bytes);
    else this.#builder.add({ start: node.start, held: node.tokens.length, used: tokens }, next);
  }
}

/** Returns bytes of pieces in order; each request must be within one piece. */
function inOrder(pieces: Iterable<Uint8Array>): NextBytes {
  const rest = pieces[Symbol.iterator]();
  let piece: Uint8Array = new Uint8Array();
  let at = 0;
  return (bytes) => {
    if (at === piece.length) [piece, at] = [rest.next().value ?? piece, 0];
    at += bytes;
    return piece.subarray(at - bytes, at);
  };
}
