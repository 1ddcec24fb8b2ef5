/** Finite automaton of a language, limited to states that can still lead to a match. */
import { type CodeRange, type RefusePattern, TOO_LARGE } from './pattern.ts';
import type { Language, Languages } from './language.ts';

export interface AutomatonState {
  readonly accepts: boolean;
  readonly steps: ReadonlyMap<number, readonly CodeRange[]>;
}

/** Chosen: each state becomes a rule. */
const MAX_STATES = 1_500;

/** State 0 is the start; null for the empty language. */
export function buildAutomaton(
  languages: Languages,
  start: Language,
  { refuse, spend }: { readonly refuse: RefusePattern; readonly spend: (steps: number) => void },
): readonly AutomatonState[] | null {
  const classes = characterRanges(start);
  const found = new Map<Language, number>([[start, 0]]);
  const states: { accepts: boolean; steps: Map<number, CodeRange[]> }[] = [];
  for (const [language] of found) {
    if (found.size > MAX_STATES) throw refuse(TOO_LARGE);
    spend(1 + classes.length);
    const steps = new Map<number, CodeRange[]>();
    for (const range of classes) {
      const after = languages.after(language, range[0]);
      if (after === languages.none) continue;
      const index = found.get(after) ?? found.size;
      found.set(after, index);
      const before = steps.get(index) ?? [];
      steps.set(index, joined(before, range));
    }
    states.push({ accepts: language.nullable, steps });
  }
  return withoutDead(states);
}

function joined(ranges: CodeRange[], range: CodeRange): CodeRange[] {
  const last = ranges.at(-1);
  if (last !== undefined && last[1] + 1 === range[0]) return [...ranges.slice(0, -1), [last[0], range[1]]];
  return [...ranges, range];
}

function characterRanges(start: Language): CodeRange[] {
  const cuts = new Set([0]);
  const seen = new Set<Language>();
  const todo = [start];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const [from, to] of next.kind === 'set' ? next.ranges : []) {
      cuts.add(from);
      cuts.add(to + 1);
    }
    if (next.kind === 'cat') todo.push(next.a, next.b);
    if (next.kind === 'any' || next.kind === 'all') todo.push(...next.of);
    if (next.kind === 'not' || next.kind === 'repeat') todo.push(next.a);
  }
  const sorted = [...cuts].filter((cut) => cut <= 0x10ffff).sort((a, b) => a - b);
  return sorted.map((from, index): CodeRange => [from, (sorted[index + 1] ?? 0x110000) - 1]);
}

function withoutDead(
  states: readonly { accepts: boolean; steps: Map<number, CodeRange[]> }[],
): readonly AutomatonState[] | null {
  const before = states.map((): number[] => []);
  for (const [index, { steps }] of states.entries()) for (const to of steps.keys()) before[to]?.push(index);
  const alive = new Set<number>();
  const todo = states.flatMap(({ accepts }, index) => (accepts ? [index] : []));
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (alive.has(next)) continue;
    alive.add(next);
    todo.push(...(before[next] ?? []));
  }
  if (!alive.has(0)) return null;
  return states.map(({ accepts, steps }, index) => ({
    accepts,
    steps: new Map(alive.has(index) ? [...steps].filter(([to]) => alive.has(to)) : []),
  }));
}
