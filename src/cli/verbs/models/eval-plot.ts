/** A report of hearth eval as a file of SVG. Pure. */
import { evalBars } from '../../../server/api/eval/eval-bars.ts';
import type { EvalReport } from '../../../trust/evidence/eval-statement.ts';
import { barPlot } from '../../bar-plot.ts';

/** The page shows the words itself. */
export const evalPlot = (report: EvalReport): string =>
  barPlot({ ...evalBars(report), notes: [report.verdict, ...report.findings] });
