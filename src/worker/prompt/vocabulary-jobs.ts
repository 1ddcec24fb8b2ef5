import type { DetokenizeJob, TokenizeJob, VocabularyJob } from '../../contract/job.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { Text } from '../../../packages/chat-templates/src/jinja/values/text.ts';
import { guardAgainst } from './guard.ts';
import type { Vocabulary } from './vocabulary.ts';

export function answerVocabularyJob(vocabulary: Vocabulary, job: VocabularyJob): JobEvent {
  return job.kind === 'tokenize' ? tokenized(vocabulary, job) : detokenized(vocabulary, job);
}

function tokenized(vocabulary: Vocabulary, job: TokenizeJob): JobEvent {
  const body = job.parseSpecial ? vocabulary.tokenize(job.text, true) : plainTokens(vocabulary, job.text);
  const tokens = job.addSpecial ? surrounded(vocabulary, body) : body;
  const marks = { begin: vocabulary.bosText, end: vocabulary.eosText };
  if (job.wantsMarks === true) return { type: 'tokenized', tokens, marks };
  if (!job.withPieces) return { type: 'tokenized', tokens };
  return { type: 'tokenized', tokens, pieces: Array.from(tokens, (token) => piece(vocabulary, token)) };
}

/** Tokens of text without any control token, even if a file gives one an ordinary type. */
function plainTokens(vocabulary: Vocabulary, text: string): Uint32Array {
  const tokens = vocabulary.tokenize(text, false);
  const isControl = (token: number): boolean =>
    vocabulary.isEnd(token) || vocabulary.controlText(token) !== null;
  if (!tokens.some(isControl)) return tokens;
  const pieces = guardAgainst({ tokens: vocabulary.controlTexts, texts: [] }).pieces(Text.client(text));
  const runs = pieces.map(({ text: part, continues }) =>
    continues ? vocabulary.tokenizeNext(part) : vocabulary.tokenize(part, false),
  );
  return Uint32Array.from(runs.flatMap((run) => [...run]));
}

function surrounded({ prependToken, appendToken }: Vocabulary, tokens: Uint32Array): Uint32Array {
  const first = prependToken === null || tokens[0] === prependToken ? [] : [prependToken];
  const last = appendToken === null || tokens.at(-1) === appendToken ? [] : [appendToken];
  return Uint32Array.from([...first, ...tokens, ...last]);
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function piece(vocabulary: Vocabulary, token: number): string | number[] {
  const control = vocabulary.controlText(token);
  if (control !== null) return control;
  const bytes = vocabulary.tokenBytes(token);
  try {
    return strict.decode(bytes);
  } catch {
    return [...bytes];
  }
}

function detokenized(vocabulary: Vocabulary, { tokens }: DetokenizeJob): JobEvent {
  checkTokens(vocabulary, tokens, 'tokens');
  return { type: 'detokenized', text: textOfTokens(vocabulary, tokens) };
}

/** Throws for a number that is not a token of the vocabulary; `param` names the list in the request. */
export function checkTokens({ size }: Vocabulary, tokens: readonly number[], param: string): void {
  const index = tokens.findIndex((token) => token >= size);
  if (index < 0) return;
  throw fail('invalid_request', {
    param: `${param}[${index}]`,
    message: `${param}[${index}] is ${tokens[index]}, but the vocabulary of this model ends at ${size - 1}.`,
  });
}

/** Control tokens with their text; without the space that the vocabulary puts before all text. */
export function textOfTokens(vocabulary: Vocabulary, tokens: readonly number[]): string {
  const bytes = tokens.map((token) => {
    const control = vocabulary.controlText(token);
    return control === null ? vocabulary.tokenBytes(token) : Buffer.from(control);
  });
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(bytes));
  const [first] = tokens;
  const opensWithText = first !== undefined && vocabulary.controlText(first) === null;
  return opensWithText && text.startsWith(' ') && putsSpaceBefore(vocabulary) ? text.slice(1) : text;
}

function putsSpaceBefore(vocabulary: Vocabulary): boolean {
  const [first] = vocabulary.tokenize('a', false);
  return first !== undefined && vocabulary.tokenBytes(first)[0] === 0x20;
}
