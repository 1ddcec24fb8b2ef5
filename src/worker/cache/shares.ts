/** Order of eviction if trust domains share a tier: the domain that holds most goes first. Pure. */
import { ownerDomain } from './disk/domain-tag.ts';
import type { HeldState } from './held-state.ts';

interface HeldBy {
  readonly by: string;
  readonly bytes: number;
}

export function mostFirst(held: Iterable<HeldBy>): string[] {
  const sizes = new Map<string, number>();
  for (const { by, bytes } of held) sizes.set(by, (sizes.get(by) ?? 0) + bytes);
  return [...sizes].sort(([, a], [, b]) => b - a).map(([by]) => by);
}

export const heldBy = ({ owner, bytes }: HeldState): HeldBy => ({ by: ownerDomain(owner), bytes });
