/** Log probabilities as OpenAI's chat streams carry them. */
import type { SampledToken, TokenLogprob } from '../../../contract/job-event.ts';
import { field, listOf, textOf } from '../hostile.ts';

const MOST_ALTERNATIVES = 20;

/** Of one piece; what is malformed is left out. */
export function sampledTokens(logprobs: unknown): SampledToken[] {
  return listOf(field(logprobs, 'content')).flatMap((entry) => {
    const chosen = tokenOf(entry);
    if (chosen === null) return [];
    const top = listOf(field(entry, 'top_logprobs')).slice(0, MOST_ALTERNATIVES);
    return [{ chosen, top: top.flatMap((each) => tokenOf(each) ?? []) }];
  });
}

function tokenOf(entry: unknown): TokenLogprob | null {
  const text = textOf(field(entry, 'token'));
  const logprob = field(entry, 'logprob');
  if (text === undefined || typeof logprob !== 'number' || !Number.isFinite(logprob)) return null;
  const given = listOf(field(entry, 'bytes'));
  const isBytes =
    given.length > 0 &&
    given.every((byte) => Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) < 256);
  return { text, logprob, bytes: isBytes ? (given as number[]) : [...Buffer.from(text)] };
}
