/** L2 to L4: whether this machine can repeat a record, and whether it did. */
import type { CheckFacts } from '../engine/frozen.ts';
import type { Predicate } from './statement.ts';
import type { Finding } from './verify.ts';

/** The parts of a record that must be equal before a replay means anything. */
export type Tuple = Pick<Predicate, 'model' | 'backend' | 'exec'>;

/** What a replay made. */
export interface Replayed {
  readonly tuple: Tuple;
  readonly output: Pick<Predicate['output'], 'tokens_sha256' | 'trace_sha256' | 'n_tokens'>;
  readonly prompt: Pick<Predicate['prompt'], 'tokens_sha256'>;
  /** The server that wrote the prompt. */
  readonly serverSha256: string;
}

const incomparable = (level: Finding['level'], name: string, detail: string): Finding => ({
  level,
  name,
  outcome: 'incomparable',
  detail,
});

/**
 * L2: local hashes against those of the record; null marks what is not here. The server's own bytes decide how a
 * prompt is written but not how tokens are computed, so a difference there is told and the prompt hash decides.
 */
export function checkArtefacts(
  claimed: Predicate,
  local: { readonly blob: string | null; readonly backend: string | null; readonly server: string | null },
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
  return [
    compare('model', local.blob, claimed.model.blob_sha256),
    compare('backend', local.backend, claimed.backend.backend_sha256),
    compare('server', local.server, claimed.server.server_source_sha256),
  ];
}

/** Names what differs between two execution tuples. */
export function differences(claimed: Tuple, here: Tuple): string[] {
  const found: string[] = [];
  const test = (name: string, a: unknown, b: unknown): void => {
    if (JSON.stringify(a) !== JSON.stringify(b))
      found.push(`${name}: here ${show(b)}, in the record ${show(a)}`);
  };
  test('model', claimed.model.blob_sha256, here.model.blob_sha256);
  test('backend', claimed.backend.backend_sha256, here.backend.backend_sha256);
  test('cpu features', claimed.backend.cpu_features, here.backend.cpu_features);
  test('mapped files', closure(claimed), closure(here));
  for (const key of Object.keys(claimed.exec) as (keyof Predicate['exec'])[]) {
    // Which start of a worker it was is a fact of the boot, not of the computation.
    if (key !== 'worker_gen') test(key, claimed.exec[key], here.exec[key]);
  }
  return found;
}

const closure = ({ backend }: Tuple): string[] =>
  backend.closure.map(({ name, sha256 }) => `${name} ${sha256}`).sort();

const show = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > 64 ? `${text.slice(0, 61)}…` : text;
};

/** L3: another tuple is never "verified"; the same tuple must give the same tokens and the same logits. */
export function checkReplay(claimed: Predicate, replayed: Replayed): Finding[] {
  const different = differences(claimed, replayed.tuple);
  const isSamePrompt = claimed.prompt.tokens_sha256 === replayed.prompt.tokens_sha256;
  // Another version of the server may write a prompt in another way; the same version may not.
  if (!isSamePrompt && claimed.server.server_source_sha256 !== replayed.serverSha256) {
    different.push('the prompt: this version of the server writes it differently');
  }
  if (different.length > 0) return [incomparable('L3', 'replay', `not comparable: ${different.join('; ')}`)];
  const finding = (name: string, isEqual: boolean, detail: string): Finding => ({
    level: 'L3',
    name,
    outcome: isEqual ? 'passed' : 'failed',
    detail,
  });
  const { output } = claimed;
  const isSameOutput = output.tokens_sha256 === replayed.output.tokens_sha256;
  const isSameTrace = output.trace_sha256 === replayed.output.trace_sha256;
  return [
    finding('prompt', isSamePrompt, `${claimed.prompt.n_tokens} prompt tokens`),
    finding('tokens', isSameOutput, `${output.n_tokens} output tokens`),
    finding('trace', isSameTrace, 'bits of the two largest logits of every step'),
  ];
}

/** True when each token should be the largest logit: then a check needs neither randomness nor a grammar. */
export function isPlainGreedy({ sampling }: Predicate): boolean {
  return sampling.chain.length === 1 && sampling.chain[0] === 'greedy';
}

/** L4: every claimed token is the model's choice here, or a near tie. */
export function checkTolerant(claimed: Predicate, facts: CheckFacts, epsilon: number): Finding[] {
  if (!isPlainGreedy(claimed)) {
    const chain = claimed.sampling.chain.join(', ');
    return [
      incomparable('L4', 'tolerant', `the tokens were chosen by ${chain}; only a full replay can tell`),
    ];
  }
  if (facts.promptTokensSha256 !== claimed.prompt.tokens_sha256) {
    return [incomparable('L4', 'tolerant', 'the prompt comes out as other tokens here')];
  }
  const rate = facts.steps === 0 ? 1 : facts.exact / facts.steps;
  const summary = `${facts.exact} of ${facts.steps} exact (${(100 * rate).toFixed(2)} %), ${facts.withinMargin} within ${epsilon}, largest gap ${facts.largestGap.toFixed(4)}`;
  return [
    facts.firstMismatch === null
      ? { level: 'L4', name: 'tolerant', outcome: 'passed', detail: summary }
      : {
          level: 'L4',
          name: 'tolerant',
          outcome: 'failed',
          detail: `mismatch at token ${facts.firstMismatch}; ${summary}`,
        },
  ];
}
