/** L2 to L4: whether this machine can repeat a record, and whether it did. */
import { isDeepStrictEqual } from 'node:util';
import type { CheckFacts } from '../../contract/frozen.ts';
import type { AnsweredResponse } from './record.ts';
import type { Predicate, Statement } from './statement.ts';
import { type Finding, isSignedResponse } from './verify.ts';

/** The file that native code opens, and the further parts in order. */
export interface ModelFiles {
  readonly blob_sha256: string;
  readonly shards: readonly { readonly sha256: string }[];
}

export interface Tuple extends Pick<Predicate, 'backend' | 'exec'> {
  readonly model: ModelFiles;
}

/** The answer for these tokens in the shape of a response; null if the request does not allow it. */
export type Answer = Pick<AnsweredResponse, 'choices' | 'usage'> | null;

export interface Replayed extends Pick<Predicate, 'prompt' | 'sampling' | 'output'> {
  readonly tuple: Tuple;
  readonly answer: Answer;
  readonly serverSha256: string;
}

export interface Checked {
  readonly facts: CheckFacts;
  readonly answer: Answer;
  readonly serverSha256: string;
}

const incomparable = (level: Finding['level'], name: string, detail: string): Finding => ({
  level,
  name,
  outcome: 'incomparable',
  detail,
});

/**
 * L2: local hashes against those of the record; null marks a missing artefact. The server's bytes affect the prompt
 * but not the computation of tokens, so a difference there is reported, and the prompt hash decides.
 */
export function checkArtefacts(
  claimed: Pick<Predicate, 'model' | 'backend' | 'server'>,
  local: {
    readonly model: ModelFiles | null;
    readonly backend: string | null;
    readonly server: string | null;
  },
): Finding[] {
  const compare = (name: string, here: string | null, there: string): Finding => {
    if (here === null) return { level: 'L2', name, outcome: 'skipped', detail: 'not installed here' };
    if (here === there)
      return { level: 'L2', name, outcome: 'passed', detail: `the same bytes (${here.slice(0, 12)})` };
    const detail = `here ${here.slice(0, 12)}, in the record ${there.slice(0, 12)}`;
    return name === 'server'
      ? { level: 'L2', name, outcome: 'skipped', detail }
      : incomparable('L2', name, detail);
  };
  const { model } = local;
  const isSplit = model !== null && model.shards.length + claimed.model.shards.length > 0;
  return [
    compare('model', model?.blob_sha256 ?? null, claimed.model.blob_sha256),
    ...(isSplit ? [compare('further parts', shardDigests(model), shardDigests(claimed.model))] : []),
    compare('backend', local.backend, claimed.backend.backend_sha256),
    compare('server', local.server, claimed.server.server_source_sha256),
  ];
}

export function differences(claimed: Tuple, here: Tuple): string[] {
  return tupleDifferences(claimed, here, claimed.exec.lane === 'exact' ? NOT_OF_EXACT : []);
}

type AnyTuple = Omit<Tuple, 'exec'> & { readonly exec: object };

export function tupleDifferences(claimed: AnyTuple, here: AnyTuple, ignored: readonly string[]): string[] {
  const found: string[] = [];
  const test = (name: string, a: unknown, b: unknown): void => {
    if (!isDeepStrictEqual(a, b)) found.push(`${name}: here ${show(b)}, in the record ${show(a)}`);
  };
  test('model', claimed.model.blob_sha256, here.model.blob_sha256);
  test('further parts', shardDigests(claimed.model), shardDigests(here.model));
  test('backend', claimed.backend.backend_sha256, here.backend.backend_sha256);
  test('cpu features', claimed.backend.cpu_features, here.backend.cpu_features);
  test('mapped files', closure(claimed), closure(here));
  for (const [key, value] of Object.entries(claimed.exec)) {
    // The number of the worker's start is a fact of the boot, not of the computation.
    if (key !== 'worker_gen' && !ignored.includes(key)) test(key, value, Reflect.get(here.exec, key));
  }
  return found;
}

/** Parts of `exec` that change no bit in the exact lane. */
const NOT_OF_EXACT: readonly string[] = ['n_seq', 'n_threads', 'n_threads_observed'];

export const shardDigests = ({ shards }: ModelFiles): string =>
  shards.length === 0 ? 'none' : shards.map(({ sha256 }) => sha256).join(' ');

/** Files that earlier versions mapped to call the library. They compute nothing, and the backend's hash covers them. */
const BINDING_FILES = /^(?:llama-addon\.node|(?:lib)?llama-common\..*)$/;

const closure = ({ backend }: AnyTuple): string[] =>
  backend.closure
    .filter(({ name }) => !BINDING_FILES.test(name))
    .map(({ name, sha256 }) => `${name} ${sha256}`)
    .sort();

const show = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > 64 ? `${text.slice(0, 61)}…` : text;
};

/** L3: another tuple is never "verified"; the same tuple must give the same tokens, logits and text. */
export function checkReplay(statement: Statement, replayed: Replayed): Finding[] {
  const { predicate: claimed } = statement;
  const different = differences(claimed, replayed.tuple);
  const isSamePrompt = isDeepStrictEqual(claimed.prompt, replayed.prompt);
  const isSameSampling = isDeepStrictEqual(claimed.sampling, replayed.sampling);
  // Another server version may render a prompt or select samplers differently; the same version may not.
  if (isOtherServer(claimed, replayed)) {
    if (!isSamePrompt) different.push('the prompt: this version of the server writes it differently');
    if (!isSameSampling) different.push('the sampling: this version of the server sets it differently');
  }
  if (different.length > 0) return [incomparable('L3', 'replay', `not comparable: ${different.join('; ')}`)];
  const { output } = claimed;
  const isSameOutput =
    output.tokens_sha256 === replayed.output.tokens_sha256 && output.n_tokens === replayed.output.n_tokens;
  const isSameTrace =
    output.trace_sha256 === replayed.output.trace_sha256 && output.min_margin === replayed.output.min_margin;
  const isSameAnswer = saysWhatWasAnswered(statement, null, replayed);
  return [
    judge('L3', 'prompt', isSamePrompt, `${claimed.prompt.n_tokens} prompt tokens`),
    judge('L3', 'sampling', isSameSampling, `chosen by ${claimed.sampling.chain.join(', ')}`),
    judge('L3', 'tokens', isSameOutput, `${output.n_tokens} output tokens`),
    judge('L3', 'trace', isSameTrace, 'bits of the two largest logits of every step'),
    judgeAnswer('L3', isSameAnswer, isOtherServer(claimed, replayed)),
  ];
}

export function saysWhatWasAnswered(
  statement: Statement,
  response: AnsweredResponse | null,
  { output, answer }: Replayed,
): boolean {
  const { finish_reason } = statement.predicate.output;
  return finish_reason === output.finish_reason && answersStatement(statement, response, answer);
}

/** True when each token should be the largest logit: then a check needs neither randomness nor a grammar. */
export function isPlainGreedy({ sampling }: Predicate): boolean {
  return isGreedyChain(sampling.chain);
}

const isGreedyChain = (chain: readonly string[]): boolean => chain.length === 1 && chain[0] === 'greedy';

/** L4: every claimed token is the model's choice here, or a near tie, and together they give the answer. */
export function checkTolerant(
  statement: Statement,
  response: AnsweredResponse | null,
  checked: Checked,
  epsilon: number,
): Finding[] {
  const { predicate: claimed } = statement;
  const { facts } = checked;
  if (facts.promptTokensSha256 !== claimed.prompt.tokens_sha256)
    return [incomparable('L4', 'tolerant', 'the prompt comes out as other tokens here')];

  if (!isGreedyChain(facts.chain)) return [onlyReplayTells(facts.chain)];
  const rate = facts.steps === 0 ? 1 : facts.exact / facts.steps;
  const summary = `${facts.exact} of ${facts.steps} exact (${(100 * rate).toFixed(2)} %), ${facts.withinMargin} within ${epsilon}, largest gap ${facts.largestGap.toFixed(4)}`;
  const isSameAnswer = facts.isWhole && answersStatement(statement, response, checked.answer);
  return [
    facts.firstMismatch === null
      ? judge('L4', 'tolerant', true, summary)
      : judge('L4', 'tolerant', false, `mismatch at token ${facts.firstMismatch}; ${summary}`),
    judgeAnswer('L4', isSameAnswer, isOtherServer(claimed, checked)),
  ];
}

/** Randomness, penalties or a grammar affected the choice, so the largest logit proves nothing. */
export function onlyReplayTells(chain: readonly string[]): Finding {
  const detail = `the tokens were chosen by ${chain.join(', ')}; only a full replay can tell`;
  return incomparable('L4', 'tolerant', detail);
}

const isOtherServer = ({ server }: Predicate, here: { readonly serverSha256: string }): boolean =>
  server.server_source_sha256 !== here.serverSha256;

function answersStatement(statement: Statement, response: AnsweredResponse | null, answer: Answer): boolean {
  if (answer === null) return false;
  if (isSignedResponse(statement, { model: statement.predicate.model.id, ...answer })) return true;
  if (response === null) return false;
  const said = { choices: withoutLogprobs(response.choices), usage: response.usage };
  const here = { choices: withoutLogprobs(answer.choices), usage: answer.usage };
  return isSignedResponse(statement, response) && isDeepStrictEqual(said, here);
}

function withoutLogprobs(choices: unknown): unknown {
  if (!Array.isArray(choices)) return choices;
  return choices.map((choice: object) => {
    const { logprobs: _, ...rest } = choice as { logprobs?: unknown };
    return rest;
  });
}

function judgeAnswer(level: Finding['level'], isEqual: boolean, isOther: boolean): Finding {
  if (isEqual)
    return judge(level, 'answer', true, 'text, calls, finish reason and usage follow from the tokens');
  return isOther
    ? incomparable(level, 'answer', 'this version of the server reads other words from the tokens')
    : judge(level, 'answer', false, 'the tokens do not say what was answered');
}

const judge = (level: Finding['level'], name: string, isEqual: boolean, detail: string): Finding => ({
  level,
  name,
  outcome: isEqual ? 'passed' : 'failed',
  detail,
});
