/**
 * Marks the nodes that hold pinned prefixes, which may not be evicted. A pin knows its prefix by length and digest
 * only, so that it recognises state of earlier processes too. Pure except for the marks.
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

  beginning(owner: string, tokens: Uint32Array): readonly PinnedPrefix[] {
    return this.#pins.filter((pin) => pin.owner === owner && beginsWith(tokens, pin));
  }

  /**
   * Marks `candidates` with a pinned prefix and all nodes before them, while the marked nodes take at most
   * `limitBytes`.
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

function endsIn(node: HeldNode, pin: PinnedPrefix): boolean {
  const end = node.start + node.tokens.length;
  const isThere = node.kind === 'whole' ? end === pin.tokens : node.start < pin.tokens && pin.tokens <= end;
  return isThere && node.payload.owner === pin.owner && beginsWith(tokensUpTo(node), pin);
}

function unmarked(node: HeldNode): HeldNode[] {
  const chain: HeldNode[] = [];
  for (let at: HeldNode | null = node; at !== null; at = at.parent) if (!at.payload.isPinned) chain.push(at);
  return chain;
}
