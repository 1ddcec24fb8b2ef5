import { type Command, Option } from 'commander';
import { type AgentName, AGENTS } from '../../../server/api/check/agents/agent-kits.ts';
import { type AgentCard, checkAgent, type StepCard } from '../../../server/api/check/agents/play.ts';
import { checkModel, type ScoreCard } from '../../../server/api/check/check-model.ts';
import { caseWords } from '../../../server/api/passport/passport-lines.ts';
import { settingsDigest } from '../../../server/api/passport/settings-digest.ts';
import { CHECK } from '../../../store/passports/check-record.ts';
import { keepFinding } from '../../../store/passports/findings.ts';
import type { InstalledModel } from '../../../store/registry/registry.ts';
import {
  defaultKind,
  findBoundFolder,
  hashBackend,
  readBuildMetadata,
} from '../../../trust/identity/backend.ts';
import { readVersion } from '../../version.ts';
import { makerDefaults } from '../../../store/registry/maker-defaults.ts';
import { type CliContext, CliFailure, printable } from '../../context.ts';
import { interruptible, localRegistry, STARTS_OVER } from '../../local-registry.ts';
import { ENVELOPE, formatLines } from '../../words/format-lines.ts';

/** Chosen: with the load and the last cases, the check stays within a minute. */
const WITHIN_MS = 50_000;
/** Chosen: on a small machine a model takes long for the prompt of a few thousand tokens. */
const AGENT_WITHIN_MS = 600_000;
const TOO_SHORT = 'A minute was too short; check it again when the machine is idle.';
const NAME_WIDTH = 14;
const CASES_PER_LINE = 10;

export function registerCheck(program: Command, context: CliContext): void {
  program
    .command('check <id>')
    .description(
      'try tools, JSON and past calls on a chat model, and show what its template says, within a minute',
    )
    .addOption(
      new Option(
        '--agent <name>',
        'play a task of ten steps with the tools of this coding agent, within ten minutes',
      ).choices(AGENTS),
    )
    .option('--json', 'one JSON document')
    .action(async (id: string, { agent, json = false }: Flags) => {
      await interruptible(
        context,
        (signal) =>
          agent === undefined
            ? check(context, id, json, signal)
            : checkWithAgent(context, id, { agent, json, signal }),
        { again: STARTS_OVER },
      );
    });
}

interface Flags {
  readonly agent?: AgentName;
  readonly json?: boolean;
}

async function checkWithAgent(
  context: CliContext,
  id: string,
  { agent, json, signal }: Required<Flags> & { readonly signal: AbortSignal },
): Promise<void> {
  const target = await findTarget(context, id);
  const card = await checkAgent({
    agent,
    worker: { env: context.env, gpu: 'off' },
    target,
    withinMs: AGENT_WITHIN_MS,
    signal,
    onStep: (done, all) => context.note(`Played ${done} of ${all} steps …`),
  });
  if (json) context.printJson(card);
  else context.print(printableLines(agentLines(card)));
}

function agentLines({ model, agent, mastered, steps, left }: AgentCard): (readonly [string, string])[] {
  const all = steps.length + left;
  const loops = steps.filter((step) => step.loops).length;
  const guards = steps.flatMap((step) => step.guards);
  return [
    ['model', model],
    ['agent', agent],
    [
      'verdict',
      left === 0
        ? `${mastered} of ${all} steps mastered`
        : `incomplete, only ${steps.length} of ${all} steps were tried; ${mastered} of these mastered`,
    ],
    ...steps.map(
      (step, at) =>
        [step.mastered ? 'mastered' : 'failed', `${at + 1}. ${step.step}${stepRemark(step)}`] as const,
    ),
    ['loops', loops === 0 ? 'none' : `at ${loops} of ${steps.length} steps it made the same move again`],
    ['guards', countWords(guards) || 'did nothing'],
  ];
}

const countWords = (words: readonly string[]): string =>
  [...new Set(words)].map((word) => `${word} ${words.filter((each) => each === word).length}`).join(', ');

function stepRemark({ mastered, moves, instead }: StepCard): string {
  if (mastered) return moves === 1 ? '' : ` (after ${moves} moves)`;
  return `: ${instead ?? ''}`;
}

async function check(context: CliContext, id: string, json: boolean, signal: AbortSignal): Promise<void> {
  const registry = localRegistry(context.config());
  const model = await registry.resolve(id, 'chat');
  const target = await findTarget(context, id);
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
  const { all, left } = card.cases;
  if (left === all) throw new CliFailure(`No case of ${model.id} was tried within a minute. ${TOO_SHORT}`);
  await keepCard(context, model, card);
  if (json) context.printJson(card);
  else context.print(printableLines(checkLines(card, model.params.template)));
}

async function keepCard(context: CliContext, model: InstalledModel, card: ScoreCard): Promise<void> {
  const { cases, toolFormat, defects } = card;
  const { all, passed, left, failed } = cases;
  const library = await hashBackend(findBoundFolder(defaultKind(), null));
  await keepFinding(context.config().home, model, CHECK, {
    checkedAt: new Date().toISOString(),
    hearth: readVersion(),
    library: {
      release: library === null ? 'unknown' : readBuildMetadata(library).llamaRelease,
      sha256: library?.sha256 ?? null,
    },
    settingsSha256: settingsDigest(model),
    toolFormat,
    cases: { all, passed, left, failed: failed.map(({ name }) => name) },
    defects: [...defects],
  });
}

async function findTarget(
  context: CliContext,
  id: string,
): Promise<ReturnType<ReturnType<typeof localRegistry>['toTarget']>> {
  const config = context.config();
  const registry = localRegistry(config);
  const model = await registry.resolve(id, 'chat');
  const target = registry.toTarget(model, { numThreads: config.numThreads });
  context.note(printable(`Loading ${model.id} …`));
  await target.source.verify();
  return target;
}

const printableLines = (rows: readonly (readonly [string, string])[]): string =>
  rows.map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${printable(value)}`).join('\n');

export function checkLines(
  { model, toolFormat, format, cases, makerDefaults: defaults, defects }: ScoreCard,
  chosenTemplate: string | undefined,
): (readonly [string, string])[] {
  const isWhole = cases.left === 0;
  return [
    ['model', model],
    ['verdict', `${caseWords(cases)}${isWhole ? '' : `. ${TOO_SHORT}`}`],
    ['template', templateWords(format, chosenTemplate)],
    ['tools', toolFormat === 'envelope' ? ENVELOPE : toolFormat],
    ...(format === null ? [] : formatLines(format)),
    ...cases.failed.map(({ name, reason }) => ['failed', `${name}: ${reason}`] as const),
    [
      'recommended',
      Object.entries(defaults)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ') || 'nothing',
    ],
    ...(defects.length === 0
      ? [['defects', isWhole ? 'none known' : 'none known from the cases that were tried'] as const]
      : defects.map((defect) => ['defect', defect] as const)),
  ];
}

function templateWords(format: ScoreCard['format'], chosen: string | undefined): string {
  if (chosen !== undefined) return `${chosen}, as set`;
  return format?.template === 'none' ? 'none, ChatML stands in' : 'in the file';
}
