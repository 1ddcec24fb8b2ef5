/** What the process with the bare library is asked, and what it answers. */
import type { Inputs } from './measures.ts';
import type { Figures } from '../statistics.ts';

export type Request =
  | { readonly measure: 'decode'; readonly streams: number; readonly seed: number }
  | { readonly measure: 'prefill'; readonly tokens: number; readonly seed: number }
  | ({ readonly measure: 'embed' } & Inputs);

export type Reply = { readonly figures: Figures } | { readonly failed: string };
