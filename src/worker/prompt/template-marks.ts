/**
 * Marks of a template: its text between client texts, in conversations of every shape. Found by rendering, because
 * templates put marks together from parts.
 */
import { OwnWords } from '../../../packages/chat-templates/src/jinja/values/convert.ts';
import type { Text } from '../../../packages/chat-templates/src/jinja/values/text.ts';
import type { Marks } from './guard.ts';
import type { Vocabulary } from './vocabulary.ts';

type Renders = (probe: Probe) => Text;

interface Probe {
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[] | null;
  readonly enable_thinking?: boolean;
}

/**
 * `<…>`, `</…>`, `<|…|>`, `[…]` in capitals, `>>>`. A part of one counts too, because client text could complete it.
 */
const BRACKETED =
  /(?<!<)<+[^\s<>"'=]{1,80}[>=]+|<[|｜][^\s<>]{1,80}|\[\/?[A-Z][A-Z_ ]{1,40}\]|>{3,}|(?<!#)#{2,} ?\w+:/gu;
/** Characters. Longer words between two texts are explanations. */
const LONGEST_SEPARATOR = 200;

/**
 * Marks: all control tokens, and the template's own marks, as tokens or as texts. Other tokens that the tokeniser
 * matches first, such as HTML tags in some vocabularies, are ordinary words.
 */
export function templateMarks(renders: Renders, vocabulary: Vocabulary): Marks {
  const rendered = PROBES.flatMap((probe) => attempt(renders, probe));
  const own = rendered.flatMap((text) => text.runs().filter(({ isClient }) => !isClient));
  const words = own.map(({ string }) => string).join('\n');
  const userDefined = vocabulary.userDefinedTexts.filter(
    (text) => text.trim() !== '' && words.includes(text),
  );
  const tokens = [...new Set([...vocabulary.controlTexts, ...userDefined])];
  const known = new Set(tokens);
  const between = rendered.flatMap(betweenTexts);
  const texts = new Set(between.flatMap((run) => marksIn(run, tokens)));
  return { tokens, texts: [...texts].filter((text) => !known.has(text) && text.length > 1) };
}

function attempt(renders: Renders, probe: Probe): Text[] {
  try {
    return [renders(probe)];
  } catch {
    // A template that refuses a shape of conversation writes nothing for it.
    return [];
  }
}

/**
 * The template's words next to client text. Names do not count as text, because the client cannot choose them freely.
 */
interface Between {
  readonly words: string;
  readonly afterText: boolean;
  readonly beforeText: boolean;
}

function betweenTexts(text: Text): Between[] {
  const runs = text.runs();
  const isFree = (i: number): boolean => runs[i]?.isClient === true && runs[i].string.includes('probe text');
  return runs.flatMap(({ string, isClient }, i) => {
    const [afterText, beforeText] = [isFree(i - 1), isFree(i + 1)];
    return isClient || !(afterText || beforeText) ? [] : [{ words: string, afterText, beforeText }];
  });
}

/**
 * The parts that a client could forge: all between two texts, unless that is an explanation; else those next to
 * client text. Other parts, such as examples in explanations, stay free for clients.
 */
function marksIn({ words, afterText, beforeText }: Between, tokens: readonly string[]): string[] {
  const bracketed = words.match(BRACKETED) ?? [];
  const isSeparator = afterText && beforeText;
  if (bracketed.length > 0 && isSeparator && words.length <= LONGEST_SEPARATOR) return bracketed;
  if (bracketed.length > 0)
    return [...(afterText ? bracketed.slice(0, 1) : []), ...(beforeText ? bracketed.slice(-1) : [])];

  // Words without brackets and without a token are one mark if they separate two turns.
  const hasToken = tokens.some((token) => token.length > 1 && words.includes(token));
  return isSeparator && !hasToken && /[\p{L}\p{N}][\p{P}\p{S}]/u.test(words) && !/["{}]/.test(words)
    ? [words]
    : [];
}

/**
 * The text before each further tool, if the template writes descriptions unescaped, so that a description could forge
 * another tool. Null: descriptions are escaped, or tools have no common beginning.
 */
export function toolMark(renders: Renders): string | null {
  const [rendered] = attempt(renders, { messages: [ASKED], tools: DESCRIBED_TOOLS });
  if (rendered === undefined) return null;
  const runs = rendered.runs();
  const later = DESCRIBED_TOOLS.slice(1).map(({ function: { name, description } }) => [name, description]);
  const candidates = [0, 1].map((member) => {
    const before = later.map((texts) => {
      const at = runs.findIndex(({ string, isClient }) => isClient && string.includes(texts[member] ?? ''));
      const run = runs[at - 1];
      return run === undefined || run.isClient ? '' : run.string;
    });
    return before.reduce(sharedEnd).trimStart();
  });
  const mark = candidates.reduce((one, other) => (other.length > one.length ? other : one));
  if (mark.trim().length < LEAST_TOOL_MARK) return null;
  return isVerbatim(renders, mark) ? mark : null;
}

/** Characters: shorter words occur in many descriptions. */
const LEAST_TOOL_MARK = 4;

function isVerbatim(renders: Renders, words: string): boolean {
  const [first] = DESCRIBED_TOOLS;
  const description = `${first.function.description} ${words}|`;
  const tools = [{ ...first, function: { ...first.function, description } }];
  const [rendered] = attempt(renders, { messages: [ASKED], tools });
  return rendered?.string.includes(description) === true;
}

function sharedEnd(one: string, other: string): string {
  let length = 0;
  while (length < Math.min(one.length, other.length) && one.at(-1 - length) === other.at(-1 - length))
    length += 1;
  return length === 0 ? '' : one.slice(-length);
}

const own = (words: string): OwnWords => new OwnWords(words);
const text = (place: string): string => `probe text ${place}`;
const call = (id: string, name: string) => ({
  id,
  type: own('function'),
  function: { name, arguments: { place: text(`argument ${id}`), again: text(`second ${id}`) } },
});
const turn = (role: string, content: string, more: object = {}) => ({ role: own(role), content, ...more });

const TOOLS = ['first', 'second'].map((name) => ({
  type: own('function'),
  function: {
    name: `${name}_tool`,
    description: 'a description',
    parameters: {
      type: 'object',
      properties: {
        place: { type: 'string', description: 'a place' },
        again: { type: 'string', description: 'a place' },
      },
      required: ['place'],
    },
  },
}));

const described = (name: string, properties: object) => ({
  type: own('function'),
  function: {
    name: `tool_${name}`,
    description: text(`of ${name}`),
    parameters: { type: 'object', properties, required: Object.keys(properties).slice(0, 1) },
  },
});
/** A tool of another shape precedes each of the last three. */
const DESCRIBED_TOOLS = [
  described('one', { place: { type: 'string', description: text('place') } }),
  // Types that every template knows: some fail over lists.
  described('two', {
    again: { type: 'string', description: text('again') },
    more: { type: 'integer', description: text('more') },
  }),
  described('three', {}),
  described('four', {}),
] as const;

const SYSTEM = turn('system', text('system'));
const ASKED = turn('user', text('question'));
const REASONED = { reasoning_content: text('reasoning'), thinking: text('reasoning') };
const CALLS = { tool_calls: [call('call00001', 'first_tool'), call('call00002', 'second_tool')] };
const RESULTS = ['call00001', 'call00002'].map((id, i) =>
  turn('tool', text(`result ${i}`), { tool_call_id: id, name: 'first_tool' }),
);
const AGAIN = turn('user', text('next question'));

const PROBES: readonly Probe[] = [
  { messages: [ASKED], tools: null },
  { messages: [ASKED, turn('assistant', text('answer')), AGAIN], tools: null },
  { messages: [SYSTEM, ASKED, turn('assistant', text('answer'), REASONED), AGAIN], tools: null },
  { messages: [SYSTEM, ASKED], tools: null, enable_thinking: false },
  { messages: [SYSTEM, ASKED], tools: null, enable_thinking: true },
  { messages: [turn('developer', text('system')), ASKED], tools: null },
  { messages: [SYSTEM, ASKED], tools: TOOLS },
  { messages: [ASKED, turn('assistant', '', CALLS), ...RESULTS], tools: TOOLS },
  {
    messages: [
      ASKED,
      turn('assistant', '', { tool_calls: CALLS.tool_calls.slice(0, 1) }),
      ...RESULTS.slice(0, 1),
    ],
    tools: TOOLS,
  },
  {
    messages: [
      ASKED,
      turn('assistant', text('answer'), { ...CALLS, ...REASONED }),
      ...RESULTS,
      turn('assistant', text('end')),
      AGAIN,
    ],
    tools: TOOLS,
  },
  {
    messages: [ASKED, turn('assistant', text('answer'), { ...CALLS, ...REASONED }), ...RESULTS],
    tools: TOOLS,
  },
];
