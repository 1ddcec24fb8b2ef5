/**
 * Finds the folds that a conversation needs, by rendering a skeleton: the same turns, each with one word as its text.
 * That costs little for any texts, and shows whether a template refuses, drops, repeats or moves a part.
 */
import type { ToolDefinition } from '../../../contract/job.ts';
import { memoizeByObject } from '../../../lib/base/memoize-by-object.ts';
import { RecentTexts } from '../../../lib/base/recent-texts.ts';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { type Fold, FOLDS, isEmpty } from './folds.ts';
import { type PromptTurn, toText } from './prompt-turn.ts';

export interface Folded {
  readonly turns: readonly PromptTurn[];
  /** Names of the applied folds, and TEXT_LOST if the template still leaves out a part. */
  readonly folds: readonly string[];
}

interface Foldable {
  readonly turns: readonly PromptTurn[];
  readonly tools: readonly ToolDefinition[];
  readonly clockMs: number | null;
}

type Render = (asked: Foldable) => string;

interface Choice {
  readonly folds: readonly Fold[];
  readonly loses: boolean;
}

const TEXT_LOST = 'text=lost';

/** Combinations of up to this many folds are tried; beyond that, all are applied, and superfluous ones removed. */
const FEW_FOLDS = 2;
/** Most turns rendered in search of a combination: some milliseconds. */
const MOST_TURNS = 4_000;

const chosen = memoizeByObject(
  (_template: object) => new RecentTexts<Choice>({ entries: 256, chars: 1_000_000 }),
);

export function foldTurns<Prompt extends Foldable>(
  template: object,
  prompt: Prompt,
  render: (asked: Prompt) => string,
): Folded {
  const skeleton = buildSkeleton(prompt);
  const rendered: Render = (asked) => render({ ...prompt, ...asked });
  const { folds, loses } = chosen(template).of(foldKey({ ...prompt, ...skeleton }), () => {
    const needed = neededFolds(skeleton, rendered);
    return { folds: needed, loses: losesWords(applied(skeleton.turns, needed), skeleton, rendered) };
  });
  const names = foldNames(prompt.turns, folds);
  return { turns: applied(prompt.turns, folds), folds: loses ? [...names, TEXT_LOST] : names };
}

const foldKey = (asked: object): string => JSON.stringify(asked);

function foldNames(turns: readonly PromptTurn[], folds: readonly Fold[]): string[] {
  const used = folds.filter((fold, at) => haveEffect(applied(turns, folds.slice(0, at)), [fold]));
  return [...new Set(used.map(({ name }) => name))];
}

/** Each text becomes unique, of the same kind: empty, a word, or a word with the tools block. */
function buildSkeleton(prompt: Foldable): Foldable {
  let count = 0;
  const word = (text: string): string => {
    count += 1;
    return isEmpty(text) ? '' : `word${count}x`;
  };
  const turns = prompt.turns.map((turn): PromptTurn => {
    const { reasoning, toolCalls } = turn;
    return {
      ...turn,
      content: word(toText(turn.content).string),
      ...(reasoning === undefined ? {} : { reasoning: word(reasoning).replace('word', 'thought') }),
      ...(toolCalls === undefined
        ? {}
        : {
            toolCalls: toolCalls.map((call) => ({
              ...call,
              argumentsJson: `{"argument":"${word('call')}"}`,
            })),
          }),
    };
  });
  const tools = prompt.tools.slice(0, 1).map(({ name }) => ({
    name,
    description: 'description',
    parameters: { type: 'object', properties: { argument: { type: 'string', description: 'argument' } } },
  }));
  return { turns, tools, clockMs: 0 };
}

interface Try {
  readonly folds: readonly Fold[];
  readonly faults: number;
}

function neededFolds(skeleton: Foldable, render: Render): readonly Fold[] {
  const attempt = (folds: readonly Fold[]): Try => ({
    folds,
    faults: countFaults(applied(skeleton.turns, folds), skeleton, render),
  });
  let best: Try = { folds: [], faults: Infinity };
  let turns = 0;
  for (const folds of combinations(FOLDS)) {
    if (turns > MOST_TURNS) break;
    if (!haveEffect(skeleton.turns, folds)) continue;
    turns += skeleton.turns.length;
    const tried = attempt(folds);
    if (tried.faults < best.faults) best = tried;
    if (best.faults === 0) return best.folds;
  }
  // Results of tools keep their role if possible.
  for (const all of [FOLDS.filter(({ name }) => name !== 'result=user'), FOLDS]) {
    let fewest = attempt(all);
    if (fewest.faults >= best.faults) continue;
    for (const fold of all.toReversed()) {
      const fewer = attempt(fewest.folds.filter((each) => each !== fold));
      if (fewer.faults <= fewest.faults) fewest = fewer;
    }
    best = fewest;
  }
  return best.folds;
}

function* combinations(all: readonly Fold[]): Generator<readonly Fold[]> {
  let layer: (readonly Fold[])[] = [[]];
  for (let size = 0; size <= FEW_FOLDS; size += 1) {
    yield* layer;
    layer = layer.flatMap((folds) => {
      const from = folds.length === 0 ? 0 : all.indexOf(folds.at(-1) as Fold) + 1;
      return all.slice(from).map((fold) => [...folds, fold]);
    });
  }
}

function applied(turns: readonly PromptTurn[], folds: readonly Fold[]): readonly PromptTurn[] {
  return folds.reduce<readonly PromptTurn[]>((folded, { apply }) => apply(folded), turns);
}

function haveEffect(turns: readonly PromptTurn[], folds: readonly Fold[]): boolean {
  let folded = turns;
  return folds.every(({ apply }) => {
    const before = folded;
    folded = apply(folded);
    return folded.length !== before.length || folded.some((turn, at) => turn !== before[at]);
  });
}

/** A refusal is worse than any number of missing words, and a missing word than any misplaced ones. */
function countFaults(turns: readonly PromptTurn[], skeleton: Foldable, render: Render): number {
  const text = renderedOrNull({ ...skeleton, turns }, render);
  if (text === null) return Infinity;
  let faults = 0;
  let last = -1;
  for (const word of listWords(turns)) {
    const at = text.indexOf(word);
    if (at < 0 || text.indexOf(word, at + 1) >= 0) faults += 1000;
    else if (at < last) faults += 1;
    last = Math.max(last, at);
  }
  return (
    faults +
    1000 * takenForTheModels(turns, text, (other) => renderedOrNull({ ...skeleton, turns: other }, render))
  );
}

/** Roles that a template may confuse with the model's. */
const OTHERS: readonly PromptTurn['role'][] = ['system', 'tool'];

/** Number of these roles that the template writes like the model's, unless it writes all alike. */
function takenForTheModels(
  turns: readonly PromptTurn[],
  text: string,
  render: (turns: readonly PromptTurn[]) => string | null,
): number {
  const first = turns.findIndex(({ role }) => role !== 'system');
  const as = (from: PromptTurn['role'], role: PromptTurn['role']): PromptTurn[] =>
    turns.map((turn, at) => (at > first && turn.role === from ? { ...turn, role } : turn));
  const isTaken = (role: PromptTurn['role']): boolean =>
    first >= 0 &&
    turns.some((turn, at) => at > first && turn.role === role) &&
    render(as(role, 'assistant')) === text &&
    render(as(role, 'user')) !== text;
  return OTHERS.filter(isTaken).length;
}

function losesWords(turns: readonly PromptTurn[], skeleton: Foldable, render: Render): boolean {
  const text = renderedOrNull({ ...skeleton, turns }, render);
  return text !== null && listWords(turns).some((word) => !text.includes(word));
}

function renderedOrNull(prompt: Foldable, render: Render): string | null {
  try {
    return render(prompt);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return null;
  }
}

/** In order of the conversation, without thoughts of earlier turns: most templates leave those out by design. */
function listWords(turns: readonly PromptTurn[]): string[] {
  return turns.flatMap(({ content, toolCalls = [] }) => [
    ...(toText(content).string.match(/word\d+x/g) ?? []),
    ...toolCalls.flatMap(({ argumentsJson }) => argumentsJson.match(/word\d+x/g) ?? []),
  ]);
}
