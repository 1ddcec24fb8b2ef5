import { type Probe, type ProbeOptions, SENTINEL } from './probes.ts';
import type { ContentMarks, ThinkingMarks } from './tool-format.ts';
import { commonEnd, commonStart, isMark, splitUnits } from './units.ts';

const { words: WORDS, thought: THOUGHT, first: NAME } = SENTINEL;

const CALLS = [{ name: NAME, arguments: { [SENTINEL.key]: SENTINEL.value } }];

/** Some templates write past thoughts only with these switches. */
const SWITCHES = [{}, { enable_thinking: true, thinking: true }] as const;

interface DerivedThinking {
  readonly marks: ThinkingMarks;
  /** Opening of the next message of the same answer, if thinking is its own message. */
  readonly restart: string;
  readonly probe: string;
}

export function deriveThinking(probe: Probe): DerivedThinking | null {
  const found = SWITCHES.flatMap((variables) =>
    [true, false].map((tools) => marksIn(probe, { variables, tools })),
  ).filter((marks) => marks !== null);
  // A mark seen before a thought is better evidence than the end of a prompt.
  const best = found.find(({ seen }) => seen) ?? found[0];
  if (best === undefined) return null;
  const { open, close, restart } = best;
  return { marks: { open, close }, restart, probe: best.probe };
}

interface SeenMarks extends ThinkingMarks {
  readonly restart: string;
  readonly seen: boolean;
  readonly probe: string;
}

function marksIn(probe: Probe, options: ProbeOptions): SeenMarks | null {
  const text = probe.answer({ words: WORDS, thought: THOUGHT }, options);
  const called = probe.answer({ thought: THOUGHT, calls: CALLS }, options);
  const between = text === null ? null : textBetween(text, WORDS);
  const { close, restart } = closing(between, called === null ? null : textBetween(called, NAME));
  if (close === '') return null;
  const shown = (between === null ? called : text) ?? '';
  const lead = shown.slice(0, shown.indexOf(THOUGHT)).trim();
  const words = probeWords(between === null ? 'a call' : 'words', options);
  if (lead !== '') return { open: lead, close, restart, seen: true, probe: words };
  const open = opened(probe.prompt(options).trimEnd(), close);
  return { open, close, restart, seen: false, probe: `${words}, and the end of the prompt` };
}

function probeWords(behind: string, { tools = true, variables = {} }: ProbeOptions): string {
  const switched = Object.keys(variables).length > 0 ? ', enable_thinking' : '';
  return `a thought and ${behind}, ${tools ? 'with' : 'without'} tools${switched}`;
}

function textBetween(text: string, next: string): string | null {
  const from = text.indexOf(THOUGHT);
  const to = text.indexOf(next, from);
  return from < 0 || to < 0 ? null : text.slice(from + THOUGHT.length, to);
}

/**
 * The mark after a thought. Text that follows it before both words and calls opens another message, unless it is a
 * mark.
 */
function closing(beforeWords: string | null, beforeCall: string | null): { close: string; restart: string } {
  const [words, call] = [(beforeWords ?? '').trim(), (beforeCall ?? '').trim()];
  const both = commonStart(words, call).trim();
  const text = both === '' ? words || call : both;
  const units = splitUnits(text);
  const first = units.findIndex(isMark);
  const rest =
    both === ''
      ? ''
      : units
          .slice(first + 1)
          .join('')
          .trim();
  return { close: units[first] ?? '', restart: splitUnits(rest).every(isMark) ? '' : rest };
}

function opened(prompt: string, close: string): string {
  const units = splitUnits(prompt.endsWith(close) ? prompt.slice(0, -close.length).trimEnd() : prompt);
  const last = units.findLastIndex(isMark);
  const behind = units
    .slice(last + 1)
    .join('')
    .trim();
  return behind === '' ? (units[last] ?? '') : behind;
}

export function deriveContent(probe: Probe, thinking: ThinkingMarks | null): ContentMarks | null {
  const plain = probe.answer({ words: WORDS });
  const called = probe.answer({ calls: CALLS });
  if (plain === null || called === null || !plain.includes(WORDS) || !called.includes(NAME)) return null;
  const tail = plain.slice(plain.indexOf(WORDS) + WORDS.length);
  const end = commonEnd(tail.trimEnd(), called.trimEnd());
  const close = end.trim() === '' ? '' : tail.slice(0, tail.trimEnd().length - end.length).trim();
  const alone = openingMarks(plain.slice(0, plain.indexOf(WORDS)), thinking);
  if (alone !== '') return { open: alone, close, always: true };
  const thought = probe.answer({ words: WORDS, thought: THOUGHT });
  const between = thought === null ? null : textBetween(thought, WORDS);
  const behind = between === null ? '' : openingMarks(between, thinking);
  return behind === '' ? null : { open: behind, close, always: false };
}

function openingMarks(text: string, thinking: ThinkingMarks | null): string {
  const rest = [thinking?.open, thinking?.close]
    .reduce<string>((left, mark) => (mark === undefined || mark === '' ? left : left.replace(mark, '')), text)
    .trim();
  return rest !== '' && splitUnits(rest).every(isMark) ? rest : '';
}
