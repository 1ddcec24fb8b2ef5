/** How full the window of the conversation is, with what is being typed. */
import { useEffect, useState } from 'preact/hooks';
import type { TokenizeResponse } from '../../src/wire/inference/tokens.ts';
import { askJson } from '../service/client.ts';
import { modelNamed, resolved } from '../service/known.ts';
import { type Conversation, pathTo } from './talk/conversation.ts';

export interface Gauge {
  readonly used: number;
  readonly window: number;
  /** Whether a part of it is a guess by the number of characters. */
  readonly isEstimate: boolean;
}

/** Typing pauses for so long before its tokens are counted. */
const PAUSE_MS = 500;
/** Shorter ones are guessed well enough. */
const LEAST_CHARS = 200;
/** The most that the service counts at once. */
const MOST_CHARS = 256 * 1024;
const CHARS_PER_TOKEN = 4;

interface Counted {
  readonly text: string;
  readonly tokens: number;
}

export function useGauge(conversation: Conversation, draft: string): Gauge | null {
  const [counted, setCounted] = useState<Counted | null>(null);
  const [lane] = conversation.lanes;
  const model = resolved(lane?.model ?? '');
  const path = pathTo(conversation, lane?.leaf ?? null);
  const last = path.findLast(({ measures }) => measures?.promptTokens !== undefined);
  // Counting would load a model that has no request yet; a long text is worth that.
  const isWorth = draft.length > LEAST_CHARS && draft.length <= MOST_CHARS && last !== undefined;
  useEffect(() => {
    if (!isWorth) return;
    const timer = setTimeout(() => {
      askJson<TokenizeResponse>('/v1/tokenize', { body: { model, input: draft } }).then(
        ({ count: tokens }) => setCounted({ text: draft, tokens }),
        () => undefined,
      );
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [draft, model, isWorth]);
  const window = last?.measures?.window ?? modelNamed(model)?.context_length;
  if (window === undefined) return null;
  const isCounted = counted !== null && counted.text === draft;
  const typed = isCounted ? counted.tokens : Math.ceil(draft.length / CHARS_PER_TOKEN);
  const after = last === undefined ? path : path.slice(path.indexOf(last) + 1);
  const unmeasured = after.reduce((sum, { text }) => sum + text.length / CHARS_PER_TOKEN, 0);
  const said = (last?.measures?.promptTokens ?? 0) + (last?.measures?.answerTokens ?? 0);
  return {
    used: Math.round(said + unmeasured + typed),
    window,
    isEstimate: unmeasured > 0 || (typed > 0 && !isCounted),
  };
}
