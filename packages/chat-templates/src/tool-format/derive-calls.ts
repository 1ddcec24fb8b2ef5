/**
 * Derives the syntax of calls from renderings of one and of two calls: text around each call belongs to the call,
 * text between two is the separator, text around all is the section.
 */
import { readArguments, type ReadArguments } from './derive-arguments.ts';
import { type Probe, probeId, type ProbeCall, SENTINEL } from './probes.ts';
import type { CallFormat, Evidence, HistoryForm, Words } from './tool-format.ts';
import { commonEnd, commonStart } from './units.ts';

interface DerivedCalls {
  readonly format: CallFormat;
  readonly history: HistoryForm;
  readonly evidence: readonly Evidence[];
}

export interface AnswerFrame {
  readonly preamble: string;
  /** Text after words; its part that also follows calls ends the turn. */
  readonly tail: string;
  readonly thinkingClose: string | null;
}

const FIRST: ProbeCall = { name: SENTINEL.first, arguments: { [SENTINEL.key]: SENTINEL.value } };
const SECOND: ProbeCall = { name: SENTINEL.second, arguments: { [SENTINEL.key]: SENTINEL.value2 } };

const STYLES: readonly Probe['style'][] = (['any', 'nine'] as const).flatMap((ids) =>
  (['object', 'text'] as const).flatMap((args) =>
    (['empty', 'null'] as const).map((emptyContent) => ({ ids, arguments: args, emptyContent })),
  ),
);

export function deriveCalls(
  newProbe: (style: Probe['style']) => Probe,
  readFrame: (probe: Probe) => AnswerFrame,
): DerivedCalls | null {
  for (const style of STYLES) {
    const probe = newProbe(style);
    const one = shown(probe, [FIRST]);
    const format = one === null ? null : readFormat(probe, one.text, readFrame(probe));
    if (one === null || format === null) continue;
    const ids = idForm(format, style);
    return {
      format,
      history: { calls: 'template', ...style, ids },
      evidence: findEvidence(format, ids, style, one),
    };
  }
  return null;
}

function findEvidence(
  format: CallFormat,
  ids: HistoryForm['ids'],
  style: Probe['style'],
  one: Shown,
): Evidence[] {
  const { section, several } = format;
  return [
    {
      about: 'calls',
      says: `A call is written as ${quoted(one.text)}.`,
      probe: probeWords('one call', style, one),
    },
    {
      about: 'several calls',
      says: several
        ? `Two calls are written with ${quoted(section.between)} between them.`
        : 'Of two calls, only the first is written.',
      probe: probeWords('two calls', style, one),
    },
    { about: 'ids', says: idWords(format, ids), probe: probeWords('one call', style, one) },
  ];
}

const LONGEST_QUOTE = 500;

function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}

function probeWords(
  calls: string,
  { arguments: args, emptyContent, ids }: Probe['style'],
  one: Shown,
): string {
  return [
    one.withResults ? `${calls} with results` : calls,
    `arguments as ${args === 'object' ? 'data' : 'text'}`,
    ...(emptyContent === 'null' ? ['no content'] : []),
    ...(ids === 'nine' ? ['ids of nine letters and digits'] : []),
  ].join(', ');
}

function idWords({ call }: CallFormat, ids: HistoryForm['ids']): string {
  if (ids === 'nine') return 'Only ids of nine letters and digits are accepted.';
  if (ids === 'functions') return 'Ids are written as functions.NAME:NUMBER.';
  const areWritten = [...call.before, ...call.after].some((word) => slotName(word) === 'id');
  return areWritten ? 'Ids are written unchanged.' : 'Calls are written without ids.';
}

/** Some templates print the id of a result unchanged, and that of its call in the model's form. */
function idForm({ call }: CallFormat, style: Probe['style']): HistoryForm['ids'] {
  const [first, second, third] = call.before.slice(-4);
  const isFunctions =
    typeof first === 'string' && first.endsWith('functions.') && slotName(second) === 'name';
  return isFunctions && third === ':' ? 'functions' : style.ids;
}

interface Shown {
  readonly text: string;
  readonly withResults: boolean;
}

function shown(probe: Probe, calls: readonly ProbeCall[]): Shown | null {
  for (const results of [false, true]) {
    const text = probe.answer({ calls }, { results });
    if (text === null) continue;
    const end = results ? text.indexOf(SENTINEL.result) : -1;
    const cut = end < 0 ? text : text.slice(0, end);
    const texts = calls.flatMap((call) => [call.name, ...Object.values(call.arguments).map(String)]);
    if (texts.every((word) => word.length < 4 || cut.includes(word)))
      return { text: cut, withResults: results };
  }
  return null;
}

function readFormat(probe: Probe, one: string, frame: AnswerFrame): CallFormat | null {
  const form = readArguments((args) => callText(probe, args), one, probe.style.arguments === 'object');
  const span = form?.spanIn(one, SENTINEL.value) ?? null;
  if (form === null || span === null) return null;
  const mask = masker(probe);
  const lead = mask(withoutPreamble(one.slice(0, span.start), frame));
  const tail = mask(withoutEnd(one.slice(span.end), frame.tail));
  const several = readSeveralCalls(probe, form, frame);
  const parts = several ?? { section: NO_SECTION, before: lead.trimStart(), after: tail.trimEnd() };
  const call = { before: splitWords(parts.before), after: splitWords(parts.after) };
  if (!call.before.some((word) => slotName(word) === 'name')) return null;
  const start = parts.section.open + parts.before;
  return {
    section: parts.section,
    call,
    arguments: form.form,
    atStart: /^[[{]+\s*"/.test(start),
    several: several !== null,
  };
}

const NO_SECTION = { open: '', between: '', close: '' };

function readSeveralCalls(probe: Probe, form: ReadArguments, frame: AnswerFrame) {
  const two = shown(probe, [FIRST, SECOND])?.text ?? null;
  const first = two === null ? null : form.spanIn(two, SENTINEL.value);
  const second = two === null ? null : form.spanIn(two, SENTINEL.value2);
  if (two === null || first === null || second === null || second.start < first.end) return null;
  const mask = masker(probe);
  const lead = mask(withoutPreamble(two.slice(0, first.start), frame)).trimStart();
  const tail = mask(withoutEnd(two.slice(second.end), frame.tail));
  const gap = mask(two.slice(first.end, second.start));
  const before = commonEnd(lead, gap).trimStart();
  const rest = gap.slice(0, gap.length - before.length);
  const after = commonStart(rest, tail).trimEnd();
  return {
    section: {
      open: lead.slice(0, lead.length - before.length),
      between: rest.slice(after.length),
      close: tail.slice(after.length).trimEnd(),
    },
    before,
    after,
  };
}

function callText(probe: Probe, args: Readonly<Record<string, unknown>>): string | null {
  const text = probe.answer({ calls: [{ name: SENTINEL.first, arguments: args }] });
  return text ?? probe.answer({ calls: [{ name: SENTINEL.first, arguments: args }] }, { results: true });
}

function withoutPreamble(lead: string, { preamble, thinkingClose }: AnswerFrame): string {
  const rest = lead.slice(commonStart(lead, preamble).length);
  const thought = thinkingClose === null ? -1 : rest.lastIndexOf(thinkingClose);
  return thought < 0 ? rest : rest.slice(thought + (thinkingClose ?? '').length);
}

const ENDS =
  /<[|｜](?:eo[mt]_id|calls?|im_end|end|tool_response|[^<>]{0,64}(?:eos|end[▁_]of)[^<>]{0,64})[|｜]?>|<\/s>/;

function withoutEnd(tail: string, afterWords: string): string {
  const common = commonEnd(tail.trimEnd(), afterWords.trimEnd());
  const rest = common.trim() === '' ? tail : tail.slice(0, tail.trimEnd().length - common.length);
  const end = rest.search(ENDS);
  return end < 0 ? rest : rest.slice(0, end);
}

/** Private-use characters for slots: two calls compare equal if only their names, ids and places differ. */
const MASKS = { name: '\uE001', id: '\uE002', index: '\uE003' } as const;

function masker(probe: Probe): (text: string) => string {
  const names = [SENTINEL.first, SENTINEL.second];
  const ids = names.map((name, call) => probeId(probe.style.ids, call, name));
  return (text) => {
    const named = replaceAny(replaceAny(text, ids, MASKS.id), names, MASKS.name);
    return named.replaceAll(/(?<=[":])[0-2](?=["<])/g, MASKS.index);
  };
}

function replaceAny(text: string, words: readonly string[], by: string): string {
  return words.reduce((left, word) => left.replaceAll(word, by), text);
}

function splitWords(text: string): Words {
  const parts = text.split(/([\uE001-\uE003])/).filter((part) => part !== '');
  return parts.map((part) => {
    const slot = (Object.keys(MASKS) as (keyof typeof MASKS)[]).find((name) => MASKS[name] === part);
    return slot === undefined ? part : { slot };
  });
}

function slotName(word: Words[number] | undefined): string | null {
  return typeof word === 'object' ? word.slot : null;
}
