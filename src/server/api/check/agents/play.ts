/**
 * Plays an agent's task with a model. Each step follows the correct moves of the earlier ones, so a failed step does
 * not affect the next. After a wrong move the model gets the project's response and may try again.
 */
import type { CallGuard, Repetition } from '../../../../contract/job-event.ts';
import type { GenerateJob, Turn } from '../../../../contract/job.ts';
import type { Engine, LoadedModel, ModelTarget } from '../../../engine/ports.ts';
import { errorMessage } from '../../../../lib/errors/svc-error.ts';
import { collectEvents } from '../../../engine/collect.ts';
import { guardedAfter } from '../../chat/call-guard.ts';
import { answerChecks } from '../../chat/checked-jobs.ts';
import { answerCalls, collect, answerText } from '../../chat/collected.ts';
import { checkJob } from '../check-job.ts';
import { AGENT_KITS, type AgentCall, type AgentKit, type AgentName } from './agent-kits.ts';
import { type Action, isRight, QUESTION, actionResult, SCRIPT, type ScriptStep } from './script.ts';
import { startOwnWorker, type WorkerSettings } from '../../own-worker.ts';

const MOST_MOVES = 4;
const MOVE_TOKENS = 192;

export interface StepCard {
  readonly step: string;
  readonly mastered: boolean;
  readonly moves: number;
  readonly instead: string | null;
  readonly loops: boolean;
  readonly guards: readonly (CallGuard | Repetition)[];
}

export interface AgentCard {
  readonly model: string;
  readonly agent: string;
  readonly mastered: number;
  readonly steps: readonly StepCard[];
  readonly left: number;
}

export interface PlayOptions {
  readonly agent: AgentName;
  readonly model: string;
  readonly run: Pick<LoadedModel, 'run'>['run'];
  readonly target: ModelTarget;
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
  readonly onStep?: (done: number, all: number) => void;
}

export async function playAgent(options: PlayOptions): Promise<AgentCard> {
  const kit = AGENT_KITS[options.agent];
  const steps: StepCard[] = [];
  for (const [at, step] of SCRIPT.entries()) {
    if (options.isOver()) break;
    steps.push(await playStep(options, kit, { step, at }));
    options.onStep?.(steps.length, SCRIPT.length);
  }
  return {
    model: options.model,
    agent: kit.title,
    mastered: steps.filter(({ mastered }) => mastered).length,
    steps,
    left: SCRIPT.length - steps.length,
  };
}

interface Move {
  readonly call: AgentCall | null;
  readonly words: string;
  readonly guards: readonly (CallGuard | Repetition)[];
  readonly failure: string | null;
}

async function playStep(
  options: PlayOptions,
  kit: AgentKit,
  { step, at }: { readonly step: ScriptStep; readonly at: number },
): Promise<StepCard> {
  const turns = pastTurns(kit, at);
  const guards: (CallGuard | Repetition)[] = [];
  let before = '';
  let loops = false;
  let instead = '';
  let moves = 0;
  while (moves < MOST_MOVES && !(moves > 0 && options.isOver())) {
    moves += 1;
    const move = await nextMove(options, kit, turns);
    guards.push(...move.guards);
    const { name = '', input = {} } = move.call ?? {};
    const made = move.call === null ? null : kit.toAction({ name, input });
    const card = { step: step.words, moves, guards };
    if (isMastered(step, move, made)) return { ...card, mastered: true, instead: null, loops };
    instead = describeMove(move);
    const text = JSON.stringify([move.call, move.words]);
    loops ||= text === before;
    before = text;
    if (move.call === null) return { ...card, mastered: false, instead, loops };

    turns.push(...called(move.call, `${at}-${moves}`, actionResult(made)));
  }
  return { step: step.words, mastered: false, moves, instead, loops, guards };
}

function isMastered({ action }: ScriptStep, { call, words, failure }: Move, made: Action | null): boolean {
  if (action === null) return failure === null && call === null && words.trim() !== '';
  return made !== null && isRight(action, made);
}

function describeMove({ call, words, failure }: Move): string {
  if (failure !== null) return failure;
  if (call !== null) return `called ${call.name} with ${JSON.stringify(call.input).slice(0, 100)}`;
  const said = words.trim().replaceAll(/\s+/g, ' ').slice(0, 80);
  return said === '' ? 'said nothing' : `said: ${said}`;
}

export function pastTurns(kit: AgentKit, at: number): Turn[] {
  const past = SCRIPT.slice(0, at).flatMap(({ action, result }, index) =>
    action === null ? [] : called(kit.toCall(action), String(index), result),
  );
  return [{ role: 'system', content: kit.system }, { role: 'user', content: QUESTION }, ...past];
}

function called({ name, input }: AgentCall, id: string, result: string): Turn[] {
  const toolCalls = [{ id: `call_${id}`, name, argumentsJson: JSON.stringify(input) }];
  return [
    { role: 'assistant', content: '', toolCalls },
    { role: 'tool', content: result, toolCallId: `call_${id}`, name },
  ];
}

async function nextMove(options: PlayOptions, kit: AgentKit, turns: readonly Turn[]): Promise<Move> {
  const job: GenerateJob = checkJob(`agent ${turns.length}`, {
    prompt: { kind: 'chat', turns: [...turns] },
    tools: [...kit.tools],
    toolChoice: { mode: 'auto' },
    // A step has few moves, so the guard has to react early.
    sampling: { temperature: 0, ...guardedAfter(2) },
    maxTokens: MOVE_TOKENS,
  });
  try {
    const { run, target, signal } = options;
    const submit: Engine['submit'] = (asked, until, listener) => run(asked.job, until, listener);
    const submission = {
      job,
      target,
      clientKey: '',
      clientName: '',
      numCtx: null,
      keepAliveMs: null,
      check: {},
    };
    const events = await collectEvents((listener) => answerChecks.take(submission, signal, listener, submit));
    const { answers } = await collect(
      [job],
      events.map((event) => ({ index: 0, event })),
    );
    const [answer] = answers;
    const [first] = answerCalls(answer);
    const { calls, repetition, finishReason } = answer.done;
    const guards = [calls, repetition].filter((guard) => guard !== undefined);
    const input = first === undefined ? {} : (JSON.parse(first.pieces.join('')) as AgentCall['input']);
    const isCut = first === undefined && finishReason === 'length';
    return {
      call: first === undefined ? null : { name: first.name, input },
      words: answerText(answer, 'text'),
      guards,
      failure: isCut ? `did not end within ${MOVE_TOKENS} tokens` : null,
    };
  } catch (error) {
    options.signal.throwIfAborted();
    return { call: null, words: '', guards: [], failure: errorMessage(error) };
  }
}

interface CheckAgentOptions {
  readonly agent: AgentName;
  readonly worker: WorkerSettings;
  readonly target: ModelTarget;
  /** Steps that have not begun within this time, the load included, are left out. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
  readonly onStep?: (done: number, all: number) => void;
}

/** The tools and the script take most of the first half. */
const NUM_CTX = 8192;

export async function checkAgent(options: CheckAgentOptions): Promise<AgentCard> {
  const { agent, worker, target, withinMs, signal, onStep } = options;
  const end = performance.now() + withinMs;
  const backend = startOwnWorker(worker);
  try {
    const numCtx = Math.min(NUM_CTX, target.trainedCtx);
    const loaded = await backend.load(target, { numCtx, slots: 1, cells: numCtx }, signal);
    return await playAgent({
      agent,
      model: target.modelId,
      run: (job, until, listener) => loaded.run(job, until, listener),
      target,
      signal,
      isOver: () => performance.now() > end,
      ...(onStep === undefined ? {} : { onStep }),
    });
  } finally {
    await backend.close();
  }
}
