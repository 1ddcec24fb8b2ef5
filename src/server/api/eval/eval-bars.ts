/** Contents of the plot of an evaluation, in a file and on the page. Pure. */
import type { Bar } from '../../../lib/base/bar-layout.ts';
import type { EvalReport, TextFigures } from '../../../trust/evidence/eval-statement.ts';
import type { EvalPlot } from '../../../wire/operation/library.ts';

export function evalBars({ model, whole, texts, own, against }: EvalReport): EvalPlot {
  return {
    title: `${model}: bits per byte of text (less is better)`,
    legend: against === null ? [] : [`${model}, and where it chooses the same next token`, against.reference],
    rows: [whole, ...texts, ...(own === null ? [] : [own])].map((figures) => ({
      label: figures.name,
      bars: against === null ? [bar(figures.bits_per_byte)] : pairOfBars(figures),
    })),
  };
}

function pairOfBars({
  bits_per_byte: own,
  reference_bits_per_byte: other,
  same_choice: same,
}: TextFigures): Bar[] {
  const { value, text } = bar(own);
  return [{ value, text: same === null ? text : `${text} (${(100 * same).toFixed(1)} % same)` }, bar(other)];
}

const bar = (value: number | null): Bar => ({ value, text: value === null ? 'none' : value.toFixed(3) });
