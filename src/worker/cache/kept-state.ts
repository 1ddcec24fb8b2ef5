/**
 * If a context may change its attention, state outside it is kept in the form of flash attention, so that blocks from
 * before and after a change fit each other.
 */
import type { Stretch } from './state-layout.ts';
import { withValues } from './turned-values.ts';

export interface KeptState {
  out(state: Uint8Array, tokens: number): Uint8Array;
  in(state: Uint8Array, stretch: Stretch): Uint8Array;
}

const AS_IT_IS: KeptState = { out: (state) => state, in: (state) => state };

export function keptState(context: { readonly flashAttention: boolean }, chooses: boolean): KeptState {
  if (!chooses) return AS_IT_IS;
  return {
    out: (state, tokens) =>
      context.flashAttention
        ? state
        : (withValues(state, { start: 0, tokens }, { transposed: false }) ?? state),
    in: (state, stretch) =>
      context.flashAttention ? state : (withValues(state, stretch, { transposed: true }) ?? state),
  };
}
