/** Facts in a long text, and which of them a model recalls at its end, after one reading. Pure. */
import type { PromptToken } from '../../../contract/job-event.ts';

interface Fact {
  readonly name: string;
  readonly code: string;
  /** Its place: 0 is the beginning of the text. */
  readonly depth: number;
}

export const FACTS: readonly Fact[] = [
  { name: 'Anna', code: '4913', depth: 0.05 },
  { name: 'Boris', code: '7206', depth: 0.25 },
  { name: 'Clara', code: '8541', depth: 0.5 },
  { name: 'David', code: '3968', depth: 0.75 },
  { name: 'Elena', code: '6127', depth: 0.9 },
];

const sentence = ({ name, code }: Fact): string => `The code of ${name} is ${code}.`;

/** The facts once more: what a model that has read them finds likeliest. */
export const RECALL = `\n\nThese are the codes again. ${FACTS.map(sentence).join(' ')}\n`;

/** `filler` sentences, over and over, `count` in all, with the facts at their depths. */
export function hiddenIn(filler: readonly string[], count: number): string {
  const sentences = Array.from({ length: count }, (_, at) => filler[at % filler.length] ?? '');
  for (const fact of [...FACTS].reverse())
    sentences.splice(Math.round(fact.depth * count), 0, sentence(fact));
  return sentences.join(' ');
}

/** Depths of the facts of which some token of the code was not the likeliest; `tokens` are those of the recall at least. */
export function missedFacts(tokens: readonly PromptToken[]): number[] {
  const text = tokens.map(({ bytes }) => Buffer.from(bytes).toString('latin1')).join('');
  let from = text.lastIndexOf('These are the codes again.');
  return FACTS.flatMap((fact) => {
    const at = text.indexOf(sentence(fact), from);
    from = at;
    const begin = at + sentence(fact).length - fact.code.length - 1;
    const isRecalled = at >= 0 && within(tokens, begin, begin + fact.code.length).every(isLikeliest);
    return isRecalled ? [] : [fact.depth];
  });
}

const isLikeliest = ({ score }: PromptToken): boolean => score?.rank === 1;

function within(tokens: readonly PromptToken[], begin: number, end: number): PromptToken[] {
  let at = 0;
  return tokens.filter(({ bytes }) => {
    const first = at;
    at += bytes.length;
    return first < end && at > begin;
  });
}
