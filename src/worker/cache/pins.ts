/**
 * Prefixes that may not give way: marks the nodes of the trees that hold them. A pin knows its prefix by length and
 * digest only, so that state from before this process is recognised too. Pure but for the marks.
 */
import { beginsWith, isSamePin, type PinnedPrefix } from '../../lib/prompt-cache/pin.ts';
import type { HeldNode } from './held-state.ts';
import { tokensUpTo } from './prefixes/prefix-tree.ts';

export class Pins {
  #pins: readonly PinnedPrefix[];

  constructor(pins: readonly PinnedPrefix[]) {
    this.#pins = pins;
  }

  add(pin: PinnedPrefix): void {
    if (!this.#pins.some((known) => isSamePin(known, pin))) this.#pins = [...this.#pins, pin];
  }

  remove(pin: PinnedPrefix): void {
    this.#pins = this.#pins.filter((known) => !isSamePin(known, pin));
  }

  /** The pins that these tokens begin with. */
  beginning(owner: string, tokens: Uint32Array): readonly PinnedPrefix[] {
    return this.#pins.filter((pin) => pin.owner === owner && beginsWith(tokens, pin));
  }

  /**
   * Marks what holds pinned prefixes among `candidates`, with all before them, as long as no more than `limitBytes` of
   * all that is held is marked.
   */
  mark(candidates: Iterable<HeldNode>, held: Iterable<HeldNode>, limitBytes: number): void {
    if (this.#pins.length === 0) return;
    let bytes: number | null = null;
    for (const node of candidates) {
      if (!this.#pins.some((pin) => endsIn(node, pin))) continue;
      const chain = unmarked(node);
      bytes ??= pinnedBytes(held);
      const more = chain.reduce((sum, { payload }) => sum + payload.bytes, 0);
      if (bytes + more > limitBytes) continue;
      bytes += more;
      for (const { payload } of chain) payload.isPinned = true;
    }
  }
}

function pinnedBytes(held: Iterable<HeldNode>): number {
  let bytes = 0;
  for (const { payload } of held) if (payload.isPinned) bytes += payload.bytes;
  return bytes;
}

/** Whether the last token of the prefix is one of the node's own; of a whole state, the very last one. */
function endsIn(node: HeldNode, pin: PinnedPrefix): boolean {
  const end = node.start + node.tokens.length;
  const isThere = node.kind === 'whole' ? end === pin.tokens : node.start < pin.tokens && pin.tokens <= end;
  return isThere && node.payload.owner === pin.owner && beginsWith(tokensUpTo(node), pin);
}

/** The node and those before it, as far as they are not marked, the last first. */
function unmarked(node: HeldNode): HeldNode[] {
  const chain: HeldNode[] = [];
  for (let at: HeldNode | null = node; at !== null; at = at.parent) if (!at.payload.isPinned) chain.push(at);
  return chain;
}
