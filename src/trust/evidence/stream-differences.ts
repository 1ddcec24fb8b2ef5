/**
 * Compares the events of a saved stream with the signed answer in its record: a reader of the file sees the events.
 * Joins their pieces as clients do.
 */
import { canonicalSha256 } from '../identity/canonical.ts';
import { isSvcError } from '../../lib/errors/svc-error.ts';
import type { AnsweredResponse } from './record.ts';

type Members = Record<string, unknown>;

/** Members of an event that are compared; the others are unsigned, so anybody could have written them. */
const COMPARED = ['choices', 'model', 'usage'];

export function looseMembers(events: readonly unknown[]): string[] {
  const names = events.flatMap((event) => (isMembers(event) ? Object.keys(event) : []));
  return [...new Set(names)].filter((name) => !COMPARED.includes(name));
}

export function streamDifferences(events: readonly unknown[], answer: AnsweredResponse): string[] {
  const different = new Set<string>();
  const choicesByIndex = new Map<unknown, Members>();
  for (const event of events) {
    if (!isMembers(event)) return ['an event that is no JSON object'];
    const { model = answer.model, usage = answer.usage, choices = [] } = event;
    if (model !== answer.model) different.add('model');
    if (usage !== null && !isEqual(usage, answer.usage)) different.add('usage');
    if (!Array.isArray(choices)) return ['choices'];
    for (const choice of choices) {
      if (!isMembers(choice)) return ['choices'];
      const { index, ...pieces } = choice;
      const whole = choicesByIndex.get(index) ?? {};
      choicesByIndex.set(index, whole);
      if (!join(whole, pieces)) different.add('choices');
    }
  }
  // The record's event alone shows only the signed answer.
  if (choicesByIndex.size === 0) return [...different];
  const signed = Array.isArray(answer.choices) ? (answer.choices as readonly unknown[]) : [];
  const [choice] = signed;
  const [one] = choicesByIndex.values();
  const isOne =
    choicesByIndex.size === 1 &&
    signed.length === 1 &&
    isMembers(choice) &&
    choicesByIndex.has(choice['index']);
  if (!isOne || one === undefined) return [...different, 'choices'];
  return [...different, ...choiceDifferences(asWhole(one), choice)];
}

function choiceDifferences(streamed: Members, signed: Members): string[] {
  const names = new Set([...Object.keys(streamed), ...Object.keys(signed)]);
  names.delete('index');
  return [...names].filter((name) => {
    // A stream of the interface ends with "stop" even if the answer was cut; svc_finish_reason is compared too.
    if (name === 'finish_reason' && signed[name] === 'length' && streamed[name] === 'stop') return false;
    return !isEqual(streamed[name] ?? null, signed[name] ?? null);
  });
}

function asWhole({ delta, ...choice }: Members): Members {
  if (!isMembers(delta)) return choice;
  const { tool_calls: calls, ...message } = delta;
  const listed = isMembers(calls) ? { tool_calls: Object.values(calls) } : {};
  return { ...choice, message: { ...message, ...listed } };
}

function join(whole: Members, pieces: Members): boolean {
  let fits = true;
  for (const [name, piece] of Object.entries(pieces)) {
    if (piece === null) continue;
    const before = whole[name];
    if (name === 'tool_calls') {
      fits = joinCalls(whole, piece) && fits;
    } else if (isMembers(piece) && (before === undefined || isMembers(before))) {
      const inner = before ?? {};
      whole[name] = inner;
      fits = join(inner, piece) && fits;
    } else if (Array.isArray(piece) && Array.isArray(before)) {
      for (const each of piece) before.push(each);
    } else if (before === undefined) {
      whole[name] = Array.isArray(piece) ? [...(piece as unknown[])] : piece;
    } else if (typeof before === 'string' && typeof piece === 'string') {
      whole[name] = before + piece;
    } else {
      fits = false;
    }
  }
  return fits;
}

function joinCalls(whole: Members, pieces: unknown): boolean {
  if (!Array.isArray(pieces)) return false;
  const before = isMembers(whole['tool_calls']) ? whole['tool_calls'] : {};
  whole['tool_calls'] = before;
  return pieces.every((piece: unknown) => {
    if (!isMembers(piece) || !Number.isSafeInteger(piece['index'])) return false;
    const { index, ...rest } = piece;
    return join(before, { [String(index)]: rest });
  });
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isEqual(streamed: unknown, signed: unknown): boolean {
  try {
    return canonicalSha256({ streamed }) === canonicalSha256({ streamed: signed });
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return false;
  }
}
