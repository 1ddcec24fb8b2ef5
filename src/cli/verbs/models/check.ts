/** hearth check ID: a score card of one model, made in a worker of its own. */
import type { Command } from 'commander';
import { checkModel, type ScoreCard } from '../../../api/check/check-model.ts';
import { makerDefaults } from '../../../store/registry/maker-defaults.ts';
import { type CliContext, printable } from '../../context.ts';
import { interruptible, localRegistry } from '../../local-registry.ts';
import { ENVELOPE, formatLines } from '../../words/format-lines.ts';

/** With the load, and cases that have begun, the whole stays within a minute. */
const WITHIN_MS = 50_000;
const NAME_WIDTH = 14;
const CASES_PER_LINE = 10;

export function registerCheck(program: Command, context: CliContext): void {
  program
    .command('check <id>')
    .description(
      'try tools, JSON and past calls on a chat model, and show what its template says, within a minute',
    )
    .option('--json', 'one JSON document')
    .action(async (id: string, flags: { json?: boolean }) => {
      await interruptible(context, (signal) => check(context, id, flags.json === true, signal));
    });
}

async function check(context: CliContext, id: string, json: boolean, signal: AbortSignal): Promise<void> {
  const config = context.config();
  const registry = localRegistry(config);
  const model = await registry.resolve(id, 'chat');
  const target = registry.toTarget(model, { numThreads: config.numThreads });
  context.note(printable(`Loading ${model.id} …`));
  await target.source.verify();
  const card = await checkModel({
    worker: { env: context.env, gpu: 'off' },
    target,
    makerDefaults: await makerDefaults(registry, model),
    withinMs: WITHIN_MS,
    signal,
    onCase: (tried, all) => {
      if (tried % CASES_PER_LINE === 0) context.note(`Tried ${tried} of ${all} cases …`);
    },
  });
  if (json) {
    context.printJson(card);
  } else {
    context.print(
      lines(card, model.params.template)
        .map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${printable(value)}`)
        .join('\n'),
    );
  }
}

function lines(
  { model, toolFormat, format, cases, makerDefaults: defaults, defects }: ScoreCard,
  chosenTemplate: string | undefined,
): (readonly [string, string])[] {
  const { all, passed, failed, left } = cases;
  return [
    ['model', model],
    ['template', templateWords(format, chosenTemplate)],
    ['tools', toolFormat === 'envelope' ? ENVELOPE : toolFormat],
    ...(format === null ? [] : formatLines(format)),
    ['cases', `${passed} of ${all} passed${left > 0 ? `, ${left} not tried within a minute` : ''}`],
    ...failed.map(({ name, reason }) => ['failed', `${name}: ${reason}`] as const),
    [
      'recommended',
      Object.entries(defaults)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ') || 'nothing',
    ],
    ...(defects.length === 0
      ? [['defects', 'none known'] as const]
      : defects.map((defect) => ['defect', defect] as const)),
  ];
}

function templateWords(format: ScoreCard['format'], chosen: string | undefined): string {
  if (chosen !== undefined) return `${chosen}, as set`;
  return format?.template === 'none' ? 'none, ChatML stands in' : 'in the file';
}
