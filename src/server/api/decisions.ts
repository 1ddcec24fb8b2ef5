/**
 * POST /v1/decisions: typed questions about one input. Nothing is generated: each option is scored as the beginning
 * of an answer, by the log probabilities of its tokens. The input is evaluated once for all options.
 */
import type { ExplainedEvent, JobEvent, Usage } from '../../contract/job-event.ts';
import type { GenerateJob, Job, Turn } from '../../contract/job.ts';
import { requireEvent } from '../engine/collect.ts';
import type { Engine } from '../engine/ports.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import {
  DecisionRequest,
  type DecisionAnswer,
  type DecisionResponse,
} from '../../wire/inference/decisions.ts';
import { type Caller, newJobId } from './caller.ts';
import type { RequestNotes } from './chat/request-notes.ts';
import { NO_CHAT } from './completion/plan.ts';
import { planChoices } from './generation/choices.ts';
import { checkIgnored, unknownFields } from './generation/parameters.ts';
import type { Models, ServedModel } from './models/served-model.ts';
import { runWhole, type WholeRun } from './run-whole.ts';
import {
  asking,
  type Option,
  optionOrders,
  type Question,
  readInput,
  readQuestions,
  spellOption,
} from './decision-questions.ts';

export interface DecisionPorts {
  readonly models: Pick<Models, 'resolve'>;
  readonly engine: Pick<Engine, 'submit'>;
  readonly strictParams: boolean;
}

export interface DecisionOutcome {
  readonly body: DecisionResponse;
  readonly understood: RequestNotes;
}

const AT_ONCE = 4;

export async function decide(
  ports: DecisionPorts,
  body: DecisionRequest,
  caller: Caller,
): Promise<DecisionOutcome> {
  const ignored = unknownFields(body, DecisionRequest.properties);
  checkIgnored(ports.strictParams, ignored);
  const [input, questions] = [readInput(body), readQuestions(body)];
  const model = await ports.models.resolve(body.model, 'chat');
  requireTokens(model);
  const scorer = new Scorer(ports.engine, { model, caller, keepAlive: body.keep_alive });
  const answers: DecisionAnswer[] = [];
  for (const question of questions) {
    answers.push(
      wireDecision(question, await optionProbabilities(scorer, input, question, body.svc_any_order === true)),
    );
  }
  return {
    understood: { ignored },
    body: { model: model.id, answers, usage: wireDecisionUsage(scorer.usages) },
  };
}

function requireTokens(model: ServedModel): void {
  const { canExplain, canTokenize } = model.target().capabilities;
  if (canExplain && canTokenize) return;
  const remedy = 'ask a model that this service runs itself';
  throw fail('capability_missing', {
    model: model.id,
    ability: 'tell the probability of an answer',
    remedy,
    param: 'model',
  });
}

async function optionProbabilities(
  scorer: Scorer,
  input: readonly Turn[],
  question: Question,
  isAnyOrder: boolean,
): Promise<number[]> {
  const orders = optionOrders(question, isAnyOrder);
  const sums = question.options.map(() => 0);
  // A fixed order, so that equal questions have equal floating-point sums.
  const summed = isAnyOrder ? (orders[0] ?? question.options) : question.options;
  for (const order of orders) {
    const scores = await scorer.score(asking(input, question, order), summed);
    for (const [at, probability] of normalised(scores).entries()) {
      const place = question.options.indexOf(summed[at] as Option);
      sums[place] = (sums[place] ?? 0) + probability / orders.length;
    }
  }
  return sums;
}

export function normalised(logprobs: readonly number[]): number[] {
  const largest = Math.max(...logprobs);
  const weights = logprobs.map((logprob) => Math.exp(logprob - largest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

type Run = Omit<WholeRun, 'job'>;

class Scorer {
  readonly usages: Usage[] = [];
  readonly #engine: Pick<Engine, 'submit'>;
  readonly #run: Run;
  readonly #spelled = new Map<string, Promise<number[]>>();

  constructor(engine: Pick<Engine, 'submit'>, run: Run) {
    this.#engine = engine;
    this.#run = run;
  }

  async score(turns: readonly Turn[], options: readonly Option[]): Promise<number[]> {
    const job = this.#scoringJob(turns);
    const explained = await this.#last(
      { kind: 'explain', jobId: newJobId(this.#run.caller), job, wantsTokens: true },
      'explained',
    );
    const prompt = requireTokenIds(explained);
    const scores: number[] = [];
    for (let first = 0; first < options.length; first += AT_ONCE) {
      const some = options.slice(first, first + AT_ONCE);
      scores.push(
        ...(await Promise.all(some.map(({ value }) => this.#score(job, prompt, spellOption(value))))),
      );
    }
    return scores;
  }

  async #score(job: GenerateJob, prompt: readonly number[], spelling: string): Promise<number> {
    const tokens = [...prompt, ...(await this.#tokenize(spelling))];
    const { caller } = this.#run;
    const events = await this.#events({
      ...job,
      jobId: newJobId(caller),
      prompt: { kind: 'tokens', tokens },
      maxTokens: 0,
      scoredPrompt: { top: 0, from: prompt.length },
    });
    const done = requireEvent(events, 'done');
    const scored = events.flatMap((event) => (event.type === 'prompt_tokens' ? event.tokens : []));
    if (scored.length !== tokens.length - prompt.length)
      throw new Error(`the worker scored ${scored.length} tokens of ${tokens.length - prompt.length}`);
    this.usages.push(done.usage);
    return scored.reduce((sum, { score }) => sum + (score?.logprob ?? 0), 0);
  }

  #tokenize(text: string): Promise<number[]> {
    const jobId = newJobId(this.#run.caller);
    const job = {
      kind: 'tokenize',
      jobId,
      text,
      addSpecial: false,
      parseSpecial: false,
      withPieces: false,
    } as const;
    const known = this.#spelled.get(text) ?? this.#last(job, 'tokenized').then(({ tokens }) => [...tokens]);
    this.#spelled.set(text, known);
    return known;
  }

  #scoringJob(turns: readonly Turn[]): GenerateJob {
    const { model, caller } = this.#run;
    const content = {
      ...NO_CHAT,
      prompt: { kind: 'chat' as const, turns: [...turns] },
      format: { kind: 'text' as const },
      reasoning: { enabled: false },
      topLogprobs: null,
    };
    const [job] = planChoices({}, content, { model, caller }).jobs;
    if (job === undefined) throw new Error('a question became no job');
    return job;
  }

  #events(job: Job): Promise<JobEvent[]> {
    return runWhole(this.#engine, { ...this.#run, job });
  }

  async #last<T extends JobEvent['type']>(job: Job, type: T): Promise<Extract<JobEvent, { type: T }>> {
    return requireEvent(await this.#events(job), type);
  }
}

function requireTokenIds({ tokens }: Pick<ExplainedEvent, 'tokens'>): number[] {
  if (tokens === undefined) throw new Error('the worker did not tell the tokens of a prompt');
  return [...tokens];
}

function wireDecision({ type, name, options }: Question, probabilities: readonly number[]): DecisionAnswer {
  const confidence = Math.max(...probabilities);
  const likeliest = options[probabilities.indexOf(confidence)];
  const of = (at: number): number => probabilities[at] ?? 0;
  switch (type) {
    case 'predicate':
      return { type, name, probability: of(0) };
    case 'choice':
      return {
        type,
        name,
        choice: likeliest?.value ?? '',
        confidence,
        probabilities: options.map(({ value }, at) => ({ value, probability: of(at) })),
      };
    case 'score':
      return {
        type,
        name,
        score: probabilities.reduce((sum, probability, at) => sum + probability * at, 0),
        confidence,
        probabilities: options.map(({ value }, at) => ({
          value: at,
          label: String(value),
          probability: of(at),
        })),
      };
  }
}

function wireDecisionUsage(usages: readonly Usage[]): DecisionResponse['usage'] {
  const sum = (pick: (usage: Usage) => number): number =>
    usages.reduce((total, each) => total + pick(each), 0);
  const [input, cached] = [sum((usage) => usage.promptTokens), sum((usage) => usage.cachedTokens)];
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: input - cached },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input,
  };
}
