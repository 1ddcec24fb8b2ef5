import { BarPlot } from '../parts/bar-plot.tsx';
import { Failure } from '../parts/failure.tsx';
import { moment } from '../parts/figures.ts';
import { evals } from './models-state.ts';
import { withCode } from './setting-field.tsx';

export function LastEval({ id }: { id: string }) {
  const known = evals.value[id];
  if (known === undefined) return null;
  if (known === null) return <p class="hint">{withCode(`Not measured yet: \`hearth eval ${id}\`.`)}</p>;
  const { verdict, findings, measured_at: at, outdated, plot } = known;
  const since = outdated === null ? '' : `, before its ${outdated} changed`;
  return (
    <section class="last-eval" aria-label={`Evaluation of ${id}`}>
      <p>{verdict}</p>
      {findings.map((finding) => (
        <Failure key={finding} text={finding} />
      ))}
      <p class="hint">{`Measured ${moment(Date.parse(at))}${since}.`}</p>
      <BarPlot bars={plot} />
    </section>
  );
}
