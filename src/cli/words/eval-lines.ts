import { untriedPart } from '../../server/api/eval/compare.ts';
import type { EvalReport, TextFigures } from '../../trust/evidence/eval-statement.ts';
import { printable } from '../context.ts';

const NAME_WIDTH = 19;

type Row = readonly [name: string, value: string];

export function evalLines(report: EvalReport): string {
  const { model, verdict, findings, whole, texts, own, cases, needle, speed, against } = report;
  const rows: Row[] = [
    ['model', model],
    ['verdict', verdict],
    ...findings.map((each): Row => ['wrong', each]),
    ...[whole, ...texts, ...(own === null ? [] : [own])].map(
      (figures): Row => [figures.name, textWords(figures, against?.reference ?? '')],
    ),
    ...casesRows(cases),
    ...(needle === null ? [] : [needleRow(needle)]),
    ...report.not_tried.map((each): Row => ['not tried', `${untriedPart(each)}: ${each.why}`]),
    [
      'speed',
      `reads ${fixed(speed.read_per_s, 0)} and writes ${fixed(speed.written_per_s, 1)} tokens a second`,
    ],
    ['memory', `${(report.memory_bytes / 1024 ** 2).toFixed(0)} MiB`],
    ...(against === null ? [] : againstRows(against)),
  ];
  return rows.map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${printable(value)}`).join('\n');
}

function textWords(figures: TextFigures, reference: string): string {
  const {
    tokens,
    perplexity,
    bits_per_byte: bits,
    reference_bits_per_byte: other,
    same_choice: same,
  } = figures;
  const its = other === null ? '' : ` (${reference} ${fixed(other, 3)})`;
  const choice = same === null ? '' : `, same choice in ${percent(same)}`;
  return `${fixed(bits, 3)} bits per byte${its}, perplexity ${fixed(perplexity, 2)}${choice} (${tokens} tokens)`;
}

function casesRows({ all, passed, left, failed }: EvalReport['cases']): Row[] {
  if (all === left) return [];
  const tried = left === 0 ? `${all}` : `${all - left} tried`;
  return [
    ['cases', `${passed} of ${tried} calls, JSON and past calls passed`],
    ...failed.map(({ name, reason }): Row => ['failed', `${name}: ${reason}`]),
  ];
}

function needleRow({ window, tokens, facts, missed }: NonNullable<EvalReport['needle']>): Row {
  const where =
    missed.length === 0 || missed.length === facts
      ? ''
      : `, not those at ${missed.map(percent).join(', ')} of it`;
  const of = tokens < window ? ` of a window of ${window}` : '';
  return ['facts', `recalls ${facts - missed.length} of ${facts} in a text of ${tokens} tokens${of}${where}`];
}

const againstRows = (against: NonNullable<EvalReport['against']>): Row[] => [
  ['against', against.reference],
  [
    'same choice',
    against.tokens === 0
      ? 'no text is split alike'
      : `${percent(against.same_choice ?? 0)} of ${against.tokens} tokens`,
  ],
  ['divergence', `at least ${fixed(against.divergence, 4)} nats per token (KL)`],
  ['loss', `${fixed(against.loss_ratio, 3)} times the bits`],
  ...against.differences.map((each): Row => ['differs', each]),
];

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const fixed = (value: number | null, digits: number): string =>
  value === null ? 'none' : value.toFixed(digits);
