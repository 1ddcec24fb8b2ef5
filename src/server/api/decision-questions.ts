import { refusal } from '../../lib/errors/refusal.ts';
import type { Fields } from '../../lib/base/json.ts';
import { fieldsAt, shown, textAt, typeAt } from './dialects/fields.ts';
import type { Turn } from '../../contract/job.ts';
import {
  type DecisionQuestion,
  type DecisionRequest,
  MOST_OPTIONS,
  MOST_OPTIONS_TOGETHER,
} from '../../wire/inference/decisions.ts';

export interface Option {
  readonly value: string | boolean;
  readonly description: string;
}

export interface Question {
  readonly type: DecisionQuestion['type'];
  readonly name: string | null;
  readonly instructions: string;
  readonly options: readonly Option[];
}

const TRUTH: readonly Option[] = [
  { value: true, description: '' },
  { value: false, description: '' },
];

export function readQuestions({ questions }: Pick<DecisionRequest, 'questions'>): Question[] {
  const read = questions.map((question, index) => readQuestion(question, `questions[${index}]`));
  const options = read.reduce((sum, question) => sum + question.options.length, 0);
  if (options <= MOST_OPTIONS_TOGETHER) return read;
  throw refusal('questions', `have ${options} options together; send at most ${MOST_OPTIONS_TOGETHER}`);
}

function readQuestion(asked: DecisionQuestion, path: string): Question {
  const { type, name = null } = asked;
  const instructions = readParts(asked.instructions, `${path}.instructions`);
  if (instructions === '') throw refusal(`${path}.instructions`, 'must not be empty; say what is asked');
  return { type, name, instructions, options: readOptions(asked, path) };
}

function readOptions({ type, choices, levels }: DecisionQuestion, path: string): readonly Option[] {
  for (const [member, given, of] of [
    ['choices', choices, 'choice'],
    ['levels', levels, 'score'],
  ] as const) {
    if (type !== of && given !== null && given !== undefined)
      throw refusal(`${path}.${member}`, `belongs to a question of type ${of}; this one is a ${type}`);
  }
  if (type === 'predicate') return TRUTH;
  const at = `${path}.${type === 'choice' ? 'choices' : 'levels'}`;
  const listed =
    type === 'choice' ? choices : levels?.map(({ label, ...rest }) => ({ value: label, ...rest }));
  return distinct(listed ?? [], at);
}

function distinct(
  listed: readonly { readonly value: unknown; readonly description?: string | null }[],
  at: string,
): Option[] {
  if (listed.length < 2 || listed.length > MOST_OPTIONS)
    throw refusal(at, `has ${listed.length} items; send 2 to ${MOST_OPTIONS}`);
  const seen = new Set<string>();
  return listed.map(({ value, description }, index) => {
    if ((typeof value !== 'string' && typeof value !== 'boolean') || value === '')
      throw refusal(`${at}[${index}]`, 'must be text that is not empty, or true or false');
    const option = typeof value === 'string' ? value.toWellFormed() : value;
    const spelled = spellOption(option);
    if (seen.has(spelled))
      throw refusal(`${at}[${index}]`, `repeats ${spelled.slice(0, 64)}; send each once`);
    seen.add(spelled);
    return { value: option, description: (description ?? '').toWellFormed() };
  });
}

export function readParts(given: unknown, path: string): string {
  if (typeof given === 'string') return given.toWellFormed();
  if (!Array.isArray(given)) throw refusal(path, 'must be a text, or a list of parts');
  return given.map((part, index) => readPart(part, `${path}[${index}]`)).join('\n');
}

const TEXTS: readonly unknown[] = ['input_text', 'output_text', 'text'];

function readPart(part: unknown, path: string): string {
  const fields = fieldsAt(part, path);
  const type = typeAt(fields, path);
  if (TEXTS.includes(type)) return textAt(fields['text'], `${path}.text`);
  const { data } = fields;
  if (type === 'input_json' && typeof data === 'object') return JSON.stringify(data).toWellFormed();
  throw refusal(path, `is of type ${shown(type)}; only input_text and input_json are served`);
}

const ROLES = { user: 'user', system: 'system', developer: 'system', assistant: 'assistant' } as const;

export function readInput({ input }: Pick<DecisionRequest, 'input'>): Turn[] {
  if (typeof input === 'string') return [{ role: 'user', content: readParts(input, 'input') }];
  if (!Array.isArray(input) || input.length === 0)
    throw refusal('input', 'must be a text, or a list of messages');
  return input.map((message: unknown, index) => {
    const path = `input[${index}]`;
    const fields: Fields = { type: 'message', ...fieldsAt(message, path) };
    const type = typeAt(fields, path);
    if (type !== 'message') throw refusal(path, `is of type ${shown(type)}; only messages are served`);
    const { role, content } = fields;
    if (typeof role !== 'string' || !Object.hasOwn(ROLES, role))
      throw refusal(`${path}.role`, `must be one of ${Object.keys(ROLES).join(', ')}`);
    return { role: ROLES[role as keyof typeof ROLES], content: readParts(content, `${path}.content`) };
  });
}

/** The answer as the model writes it. No spelling is a prefix of another, so their probabilities exclude each other. */
export const spellOption = (value: string | boolean): string => JSON.stringify(value);

/** Only the end differs between questions, so the prompt cache serves the rest. */
export function asking(input: readonly Turn[], question: Question, options: readonly Option[]): Turn[] {
  const words = inWords(question, options);
  const last = input.at(-1);
  if (last?.role !== 'user') return [...input, { role: 'user', content: words }];
  return [...input.slice(0, -1), { ...last, content: `${last.content}\n\n${words}` }];
}

function inWords({ type, instructions }: Question, options: readonly Option[]): string {
  if (type === 'predicate') return `Is this true or false? ${instructions}\nAnswer with true or false only.`;
  const listed = options.map(({ value, description }) => {
    const spelled = spellOption(value);
    return description === '' ? `- ${spelled}` : `- ${spelled}: ${description}`;
  });
  const kind = type === 'choice' ? 'Options' : 'Levels, from the lowest to the highest';
  return `${instructions}\n${kind}:\n${listed.join('\n')}\nAnswer with one of them only, as it is spelled here.`;
}

/** Chosen: each order costs one more evaluation of the question. */
const MOST_ORDERS = 4;

/**
 * The orders in which options are listed. If order must have no influence, they depend on the options alone, and each
 * option gets different positions.
 */
export function optionOrders({ type, options }: Question, isAnyOrder: boolean): (readonly Option[])[] {
  if (!isAnyOrder || type !== 'choice') return [options];
  const spelled = (option: Option): string => spellOption(option.value);
  const sorted = [...options].sort((a, b) => (spelled(a) < spelled(b) ? -1 : 1));
  const count = Math.min(MOST_ORDERS, sorted.length);
  return Array.from({ length: count }, (_, at) => {
    const first = Math.floor((at * sorted.length) / count);
    return [...sorted.slice(first), ...sorted.slice(0, first)];
  });
}
