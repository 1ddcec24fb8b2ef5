import { useEffect, useState } from 'preact/hooks';
import type { TokenizeResponse } from '../../src/wire/inference/tokens.ts';
import { askJson } from '../service/client.ts';
import { modelNamed, resolved } from '../service/known.ts';
import { withAttached } from './talk/attachments.ts';
import { type Conversation, pathTo } from './talk/conversation.ts';
import type { Entry } from './talk/entry.ts';
import { guessTokens } from './talk/guess-tokens.ts';

export interface Gauge {
  readonly used: number;
  readonly window: number;
  readonly isEstimate: boolean;
}

/** Typing must pause this long before the draft is counted. */
const PAUSE_MS = 500;
/** Chosen: the guess is good enough for shorter texts. */
const LEAST_CHARS = 200;
/** Limit of the service per count; a longer text is assumed to be as dense as its beginning. */
const MOST_CHARS = 256 * 1024;

interface Counted {
  readonly model: string;
  readonly text: string;
  readonly tokens: number;
}

export function useGauge(conversation: Conversation, draft: string): Gauge | null {
  const [counted, setCounted] = useState<Counted | null>(null);
  const [lane] = conversation.lanes;
  const model = resolved(lane?.model ?? '');
  const path = pathTo(conversation, lane?.leaf ?? null);
  const last = path.findLast(
    ({ measures, model: by }) => measures?.promptTokens !== undefined && by === model,
  );
  // Counting would load a model that has no request yet.
  const isWorth = draft.length > LEAST_CHARS && last !== undefined;
  useEffect(() => {
    if (!isWorth) return;
    const timer = setTimeout(() => {
      askJson<TokenizeResponse>('/v1/tokenize', { body: { model, input: draft.slice(0, MOST_CHARS) } }).then(
        ({ count: tokens }) =>
          setCounted({
            model,
            text: draft,
            tokens: Math.round((tokens * draft.length) / Math.min(draft.length, MOST_CHARS)),
          }),
        () => undefined,
      );
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [draft, model, isWorth]);
  const window = last?.measures?.window ?? modelNamed(model)?.context_length;
  if (window === undefined) return null;
  const isCounted = counted !== null && counted.text === draft && counted.model === model;
  const typed = isCounted ? counted.tokens : guessTokens(draft);
  const after = last === undefined ? path : path.slice(path.indexOf(last) + 1);
  const unmeasured = after.reduce((sum, entry) => sum + tokensIn(entry), 0);
  const said = (last?.measures?.promptTokens ?? 0) + (last?.measures?.answerTokens ?? 0);
  return {
    used: Math.round(said + unmeasured + typed),
    window,
    isEstimate: unmeasured > 0 || (typed > 0 && !isCounted),
  };
}

/** Entries never change, so each is guessed once. */
const guesses = new WeakMap<Entry, number>();

function tokensIn(entry: Entry): number {
  const known = guesses.get(entry);
  if (known !== undefined) return known;
  const tokens = guessTokens(withAttached(entry.text, entry.files));
  guesses.set(entry, tokens);
  return tokens;
}
