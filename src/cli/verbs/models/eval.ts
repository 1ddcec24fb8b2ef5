/** hearth eval ID: how well a model predicts text, calls tools and writes JSON, and how far it is from another model. */
import type { Command } from 'commander';
import {
  type Distance,
  distanceOf,
  figuresOf,
  findingsOf,
  type TextFigures,
  verdictOf,
} from '../../../api/eval/compare.ts';
import { type Measurement, measureModel } from '../../../api/eval/measure.ts';
import { type CliContext, CliFailure, EXIT_CODES, printable } from '../../context.ts';
import { interruptible, localRegistry } from '../../local-registry.ts';

/** With the load and the texts, two models stay within five minutes. */
const CASES_WITHIN_MS = 50_000;
const NAME_WIDTH = 14;

interface Flags {
  readonly against?: string;
  readonly json?: boolean;
  readonly textsOnly?: boolean;
}

export function registerEval(program: Command, context: CliContext): void {
  program
    .command('eval <id>')
    .description(
      'measure how well a chat model predicts text, calls tools and writes JSON; with --against, exit code 1 when something is wrong with it',
    )
    .option('--against <model>', 'compare with this model, such as a larger quant of the same one')
    .option('--texts-only', 'leave out the calls and JSON answers, which take up to a minute')
    .option('--json', 'one JSON document')
    .action((id: string, flags: Flags) =>
      interruptible(context, (signal) => evaluate(context, id, flags, signal)),
    );
}

async function evaluate(context: CliContext, id: string, flags: Flags, signal: AbortSignal): Promise<void> {
  const { against, json = false, textsOnly = false } = flags;
  const registry = localRegistry(context.config());
  const ids = [id, ...(against === undefined ? [] : [against])];
  // Both are there before the first is measured.
  const models = await Promise.all(ids.map((each) => registry.resolve(each, 'chat')));
  const measured: Measurement[] = [];
  for (const model of models) {
    const target = registry.toTarget(model, { numThreads: context.config().numThreads });
    context.note(printable(`Loading ${model.id} …`));
    await target.source.verify();
    measured.push(
      await measureModel({
        worker: { env: context.env, gpu: 'off' },
        target,
        // Those of a reference are not asked for.
        casesWithinMs: measured.length === 0 && !textsOnly ? CASES_WITHIN_MS : null,
        signal,
        onProgress: (words) => context.note(printable(words)),
      }),
    );
  }
  const [candidate, reference = null] = measured;
  if (candidate === undefined) throw new Error('no model was measured');
  const report = reportOf(candidate, reference);
  if (json) context.printJson(report);
  else context.print(linesOf(report));
  if (report.findings.length > 0)
    throw new CliFailure(`${candidate.model}: ${report.findings[0]}`, EXIT_CODES.failure);
}

function reportOf(candidate: Measurement, reference: Measurement | null) {
  const distance = reference === null ? null : distanceOf(candidate, reference);
  const findings = reference === null ? [] : findingsOf(candidate, reference);
  return {
    object: 'svc.eval' as const,
    model: candidate.model,
    verdict: verdictOf(candidate, distance),
    findings,
    whole: figuresOf(candidate.texts, 'all texts'),
    texts: candidate.texts.map((text) => figuresOf([text], text.name)),
    cases: candidate.cases,
    speed: { read_per_s: candidate.readPerS, written_per_s: candidate.writtenPerS },
    memory_bytes: candidate.memoryBytes,
    against: distance,
  };
}

function linesOf(report: ReturnType<typeof reportOf>): string {
  const { model, verdict, findings, whole, texts, cases, speed, memory_bytes: bytes, against } = report;
  const rows: (readonly [string, string])[] = [
    ['model', model],
    ['verdict', verdict],
    ...findings.map((each) => ['wrong', each] as const),
    ...[whole, ...texts].map((figures) => [figures.name, textWords(figures)] as const),
    ...(cases.all === 0
      ? []
      : [
          [
            'cases',
            `${cases.passed} of ${cases.all - cases.left} calls, JSON and past calls passed`,
          ] as const,
        ]),
    ...cases.failed.map(({ name, reason }) => ['failed', `${name}: ${reason}`] as const),
    [
      'speed',
      `reads ${speed.read_per_s.toFixed(0)} and writes ${speed.written_per_s.toFixed(1)} tokens a second`,
    ],
    ['memory', `${(bytes / 1024 ** 2).toFixed(0)} MiB`],
    ...(against === null ? [] : againstWords(against)),
  ];
  return rows.map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${printable(value)}`).join('\n');
}

const textWords = ({ tokens, perplexity, bitsPerByte }: TextFigures): string =>
  `${bitsPerByte.toFixed(3)} bits per byte, perplexity ${perplexity.toFixed(2)} (${tokens} tokens)`;

const againstWords = ({
  reference,
  tokens,
  sameChoice,
  divergence,
  lossRatio,
}: Distance): (readonly [string, string])[] => [
  ['against', reference],
  [
    'same choice',
    tokens === 0 ? 'no text is split alike' : `${(100 * sameChoice).toFixed(1)} % of ${tokens} tokens`,
  ],
  ['divergence', `at least ${divergence.toFixed(4)} nats per token (KL)`],
  ['loss', `${lossRatio.toFixed(3)} times the bits`],
];
