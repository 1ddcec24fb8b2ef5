/**
 * Changes of a conversation for templates that refuse it or leave a part of it out. Each keeps every word in order,
 * and names the parts whose role or place changed.
 */
import { Text } from '../../../../packages/chat-templates/src/jinja/values/text.ts';
import { type PromptTurn, toText } from './prompt-turn.ts';

type Turns = readonly PromptTurn[];

export interface Fold {
  /** Reported to clients as `part=how`. */
  readonly name: string;
  /** Changes only parts that the template cannot handle, so that the beginning of the prompt stays the same. */
  readonly apply: (turns: Turns) => PromptTurn[];
}

export const FOLDS: readonly Fold[] = [
  { name: 'system=merged', apply: mergeOpening },
  { name: 'empty=dropped', apply: (turns) => turns.filter(saysSomething) },
  { name: 'calls=split', apply: splitCalls },
  { name: 'system=moved', apply: (turns) => moveSystem(turns, openingLength(turns)) },
  { name: 'system=user', apply: (turns) => moveSystem(turns, 0) },
  { name: 'user=result', apply: joinResults },
  { name: 'result=user', apply: (turns) => turns.flatMap(asUser('tool')) },
  { name: 'turns=merged', apply: mergeAlike },
  { name: 'words=apart', apply: (turns) => turns.flatMap(wordsApart) },
  { name: 'user=added', apply: addQuestion },
  { name: 'user=added', apply: addQuestions },
];

const GAP = Text.client('\n\n');

function joined(first: string | Text, second: string | Text): string | Text {
  if (isEmpty(first)) return second;
  return isEmpty(second) ? first : Text.concat([toText(first), GAP, toText(second)]);
}

/** Templates trim their output, so white space alone counts as empty. */
export function isEmpty(content: string | Text): boolean {
  return toText(content).string.trim() === '';
}

function openingLength(turns: Turns): number {
  const end = turns.findIndex(({ role }) => role !== 'system');
  return end < 0 ? turns.length : end;
}

function mergeOpening(turns: Turns): PromptTurn[] {
  const length = openingLength(turns);
  const [first, ...others] = turns.slice(0, length);
  if (first === undefined || others.length === 0) return [...turns];
  return [others.reduce(withContent, first), ...turns.slice(length)];
}

function withContent(turn: PromptTurn, next: PromptTurn): PromptTurn {
  return { ...turn, content: joined(turn.content, next.content) };
}

function splitCalls(turns: Turns): PromptTurn[] {
  const split: PromptTurn[] = [];
  for (let at = 0; at < turns.length; at += 1) {
    const turn = turns[at] as PromptTurn;
    const { toolCalls = [] } = turn;
    split.push(turn);
    if (toolCalls.length < 2) continue;
    split.pop();
    const end = turns.findIndex(({ role }, index) => index > at && role !== 'tool');
    const results = turns.slice(at + 1, end < 0 ? turns.length : end);
    const answered = toolCalls.map((call, index) => ({ call, result: findResult(call.id, index, results) }));
    for (const [index, { call, result }] of answered.entries()) {
      const words = index === 0 ? turn : { role: turn.role, content: '' };
      split.push({ ...words, toolCalls: [call] }, ...(result === undefined ? [] : [result]));
    }
    split.push(...results.filter((each) => answered.every(({ result }) => result !== each)));
    at += results.length;
  }
  return split;
}

/** Found by id; without ids by index, in the order of the calls. */
function findResult(id: string, index: number, results: Turns): PromptTurn | undefined {
  const named = results.find(({ toolCallId }) => toolCallId !== undefined && toolCallId === id);
  return named ?? (results.every(({ toolCallId = '' }) => toolCallId === '') ? results[index] : undefined);
}

function saysSomething({ role, content, toolCalls = [] }: PromptTurn): boolean {
  return role === 'tool' || toolCalls.length > 0 || !isEmpty(content);
}

function wordsApart(turn: PromptTurn): PromptTurn[] {
  const { role, content, toolCalls = [], ...others } = turn;
  if (toolCalls.length === 0 || isEmpty(content)) return [turn];
  return [
    { role, content, ...others },
    { role, content: '', toolCalls },
  ];
}

function asUser(role: PromptTurn['role']): (turn: PromptTurn) => PromptTurn[] {
  return (turn) => [turn.role === role ? { role: 'user', content: turn.content } : turn];
}

/**
 * Moves system turns from that place on to the start of the user's message that follows directly; without one, they
 * become user turns in place.
 */
function moveSystem(turns: Turns, from: number): PromptTurn[] {
  const moved: PromptTurn[] = turns.slice(0, from);
  let waiting: PromptTurn | null = null;
  for (const turn of turns.slice(from)) {
    if (turn.role === 'system') {
      waiting = waiting === null ? { role: 'user', content: turn.content } : withContent(waiting, turn);
    } else if (waiting !== null && turn.role === 'user') {
      moved.push({ ...turn, content: joined(waiting.content, turn.content) });
      waiting = null;
    } else {
      if (waiting !== null) moved.push(waiting);
      waiting = null;
      moved.push(turn);
    }
  }
  return waiting === null ? moved : [...moved, waiting];
}

/** The user's text between results of tools moves after the last of them. */
function joinResults(turns: Turns): PromptTurn[] {
  return merged(turns, (last, next) => last.role === 'tool' && next.role === 'user');
}

/** A conversation must begin with a message of the user, even an empty one. */
function addQuestion(turns: Turns): PromptTurn[] {
  const opening = openingLength(turns);
  if (turns[opening]?.role === 'user') return [...turns];
  return [...turns.slice(0, opening), { role: 'user', content: '' }, ...turns.slice(opening)];
}

/** A message of the model must follow one of the user, even an empty one. */
function addQuestions(turns: Turns): PromptTurn[] {
  let isAnswered = false;
  return turns.flatMap((turn) => {
    const { role, content, toolCalls = [] } = turn;
    if (role === 'user') isAnswered = false;
    if (role !== 'assistant' || (toolCalls.length > 0 && isEmpty(content))) return [turn];
    const isSecond = isAnswered;
    isAnswered = true;
    return isSecond ? [{ role: 'user', content: '' }, turn] : [turn];
  });
}

function mergeAlike(turns: Turns): PromptTurn[] {
  return merged(
    turns,
    (last, next) =>
      last.role === next.role &&
      (last.role === 'user' || last.role === 'assistant') &&
      (last.toolCalls === undefined || (isEmpty(next.content) && next.reasoning === undefined)),
  );
}

function merged(turns: Turns, joins: (last: PromptTurn, next: PromptTurn) => boolean): PromptTurn[] {
  const all: PromptTurn[] = [];
  for (const turn of turns) {
    const last = all.at(-1);
    if (last === undefined || !joins(last, turn)) all.push(turn);
    else all[all.length - 1] = both(last, turn);
  }
  return all;
}

function both(last: PromptTurn, next: PromptTurn): PromptTurn {
  const reasoning = [last.reasoning, next.reasoning].filter((text) => text !== undefined);
  const calls = [...(last.toolCalls ?? []), ...(next.toolCalls ?? [])];
  return {
    ...withContent(last, next),
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join('\n\n') }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  };
}
