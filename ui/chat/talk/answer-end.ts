import { isJson } from '../../../packages/exact-json/src/is-json.ts';
import { count } from '../../parts/figures.ts';
import type { Entry } from './entry.ts';

export interface AnswerEnd {
  readonly words: string | null;
  readonly warning: string | null;
}

export interface EndFacts {
  readonly isWindowLargest: boolean;
  readonly isConversationNew: boolean;
}

export function endOf(entry: Entry, facts: EndFacts): AnswerEnd {
  const words = wordsOf(entry);
  const isBroken = entry.asked?.isJson === true && entry.text !== '' && !isJson(entry.text);
  if (words === null || !isBroken) return { words, warning: null };
  return { words, warning: `This is not complete JSON: the answer was ${words}. ${remedyOf(entry, facts)}` };
}

function wordsOf(entry: Entry): string | null {
  switch (entry.finish) {
    case 'length':
      return CUTS[cutOf(entry)](entry.measures?.answerTokens ?? 0);
    case 'repetition':
      return 'ended because it repeated itself';
    case 'stopped':
      return 'stopped by you';
    case 'cut':
      return 'cut because the page was closed or reloaded';
    default:
      return entry.failure === undefined || entry.text === '' ? null : 'cut off by the failure';
  }
}

const CUTS = {
  asked: (tokens: number) => `cut at the limit of ${count(tokens)} tokens`,
  window: () => 'cut where the context window was full',
  model: (tokens: number) => `cut at the model's limit of ${count(tokens)} tokens`,
  unknown: () => 'cut at a limit',
} as const;

const REMEDIES = {
  asked: 'Raise "Maximum tokens" in Settings, then retry.',
  window: 'Set a larger context window in Settings, or ask in a new conversation.',
  largest: 'The window is the largest that this model can use; ask in a new conversation.',
  nothingLeft:
    'The window is the largest that this model can use: ask for less (a "maxLength" in the schema, a lower "Maximum tokens"), or choose another model.',
  model: 'Set "Maximum tokens" in Settings, then retry.',
  unknown: 'Raise "Maximum tokens" in Settings, or set a larger context window there, then retry.',
} as const;

function remedyOf(entry: Entry, { isWindowLargest, isConversationNew }: EndFacts): string {
  if (entry.finish !== 'length') return 'Retry to get a complete answer.';
  const cut = cutOf(entry);
  if (cut !== 'window' || !isWindowLargest) return REMEDIES[cut];
  return REMEDIES[isConversationNew ? 'nothingLeft' : 'largest'];
}

/** Limits in this order: the request's, the window, a default of the model. */
function cutOf({ asked, measures }: Entry): keyof typeof CUTS {
  if (measures === undefined) return 'unknown';
  const { answerTokens, promptTokens = 0, window } = measures;
  const limit = asked?.limit ?? null;
  if (limit !== null && answerTokens >= limit) return 'asked';
  // The last token of a window may stay unused.
  return window === undefined || promptTokens + answerTokens >= window - 1 ? 'window' : 'model';
}
