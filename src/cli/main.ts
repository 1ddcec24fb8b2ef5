/**
 * cli owns the terminal: it registers verbs, runs one, and turns its failure into a sentence and an exit code. It
 * knows nothing of how a job runs or a file is stored; verbs call use cases, the store, or the running server.
 */
import { Command, CommanderError } from 'commander';
import { catalogueEntry } from '../lib/errors/catalogue.ts';
import type { Family } from '../lib/errors/entry.ts';
import { isSvcError, errorMessage } from '../lib/errors/svc-error.ts';
import { fileFailure } from '../lib/files/durable.ts';
import {
  CliFailure,
  type CliContext,
  createContext,
  EXIT_CODES,
  type GlobalFlags,
  printable,
} from './context.ts';
import { readVersion } from './version.ts';
import { describeArguments } from './words/arguments.ts';
import { unknownVerb, unknownSubverb } from './words/unknown-verb.ts';
import { inCliWords } from './words/wording.ts';

type Register = (program: Command, context: CliContext) => void;
type Verb = readonly [names: readonly string[], load: () => Promise<Register>];

/**
 * Verbs in the groups and the order of --help. A verb's module is loaded only when named, because the server that
 * `serve` needs loads more slowly than most verbs run.
 */
const groups: readonly (readonly [heading: string, verbs: readonly Verb[]])[] = [
  [
    'Serve and ask:',
    [
      [['serve', 'start'], async () => (await import('./verbs/server/serve.ts')).registerServe],
      [['status'], async () => (await import('./verbs/server/status.ts')).registerStatus],
      [['run'], async () => (await import('./verbs/server/run.ts')).registerRun],
      [['embed'], async () => (await import('./verbs/server/embed.ts')).registerEmbed],
      [['launch'], async () => (await import('./verbs/server/launch.ts')).registerLaunch],
      [['ps'], async () => (await import('./verbs/server/ps.ts')).registerPs],
      [['page'], async () => (await import('./verbs/system/page.ts')).registerPage],
      [['stop'], async () => (await import('./verbs/server/stop.ts')).registerStop],
      [['quit'], async () => (await import('./verbs/server/quit.ts')).registerQuit],
    ],
  ],
  [
    'Find and install models:',
    [
      [['search'], async () => (await import('./verbs/choose/search.ts')).registerSearch],
      [['fit'], async () => (await import('./verbs/choose/fit.ts')).registerFit],
      [['bench'], async () => (await import('./verbs/choose/bench.ts')).registerBench],
      [['pull'], async () => (await import('./verbs/models/pull.ts')).registerPull],
      [['import'], async () => (await import('./verbs/models/import.ts')).registerImport],
      [['discover'], async () => (await import('./verbs/models/discover.ts')).registerDiscover],
    ],
  ],
  [
    'Installed models:',
    [
      [['list', 'ls'], async () => (await import('./verbs/models/list.ts')).registerList],
      [['show'], async () => (await import('./verbs/models/show.ts')).registerShow],
      [['default'], async () => (await import('./verbs/models/cp.ts')).registerDefault],
      [['alias'], async () => (await import('./verbs/models/cp.ts')).registerAlias],
      [['cp'], async () => (await import('./verbs/models/cp.ts')).registerCp],
      [['set'], async () => (await import('./verbs/models/set.ts')).registerSet],
      [['rm'], async () => (await import('./verbs/models/rm.ts')).registerRm],
      [['restore'], async () => (await import('./verbs/models/restore.ts')).registerRestore],
      [['verify'], async () => (await import('./verbs/models/verify.ts')).registerVerify],
      [['check'], async () => (await import('./verbs/models/check.ts')).registerCheck],
      [['eval'], async () => (await import('./verbs/models/eval.ts')).registerEval],
      [['exact'], async () => (await import('./verbs/models/exact.ts')).registerExact],
      [['du'], async () => (await import('./verbs/models/du.ts')).registerDu],
      [['prune'], async () => (await import('./verbs/models/prune.ts')).registerPrune],
    ],
  ],
  [
    'Watch the service:',
    [
      [['top'], async () => (await import('./verbs/server/top.ts')).registerTop],
      [['requests'], async () => (await import('./verbs/server/requests.ts')).registerRequests],
      [['logs'], async () => (await import('./verbs/server/logs.ts')).registerLogs],
      [['cache'], async () => (await import('./verbs/server/cache.ts')).registerCache],
    ],
  ],
  ['Prove answers:', [[['evidence'], async () => (await import('./verbs/evidence.ts')).registerEvidence]]],
  [
    'Other engines:',
    [
      [['upstream'], async () => (await import('./verbs/engines/upstream.ts')).registerUpstream],
      [['engine'], async () => (await import('./verbs/engines/engine.ts')).registerEngine],
      [['pool'], async () => (await import('./verbs/engines/pool.ts')).registerPool],
    ],
  ],
  [
    'This installation:',
    [
      [['config'], async () => (await import('./verbs/server/config.ts')).registerConfig],
      [['key'], async () => (await import('./verbs/system/key.ts')).registerKey],
      [['service'], async () => (await import('./verbs/system/service.ts')).registerService],
      [['gpu'], async () => (await import('./verbs/gpu.ts')).registerGpu],
      [['library'], async () => (await import('./verbs/library/library.ts')).registerLibrary],
      [['update'], async () => (await import('./verbs/system/update.ts')).registerUpdate],
      [['upgrade'], async () => (await import('./verbs/system/upgrade.ts')).registerUpgrade],
      [['rollback'], async () => (await import('./verbs/system/rollback.ts')).registerRollback],
      [['doctor'], async () => (await import('./verbs/system/doctor.ts')).registerDoctor],
      [['completion'], async () => (await import('./verbs/system/completion.ts')).registerCompletion],
      [['man'], async () => (await import('./verbs/system/completion.ts')).registerMan],
    ],
  ],
];
const verbs = groups.flatMap(([heading, rows]) => rows.map(([names, load]) => ({ heading, names, load })));

export async function main(argv: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  const program = new Command('hearth')
    .description('A local LLM service whose answers can be proved.')
    .version(readVersion(), '-v, --version')
    .option('--home <folder>', 'use this folder instead of SVC_HOME')
    .option('--dev', 'use the isolated development endpoint: port 8741, its own home and identity')
    .helpOption('-h, --help', 'show this help')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'hearth: ')) })
    .exitOverride();
  program.on('command:*', ([word = '']: string[]) => {
    const names = verbs.flatMap((verb) => verb.names);
    throw wrongUsage(unknownVerb(word, names));
  });
  const context = createContext(() => program.opts<GlobalFlags>(), process.env);
  const asksVersion = argv.length === 1 && ['version', '--version', '-v'].includes(argv[0] ?? '');
  const args = asksVersion ? ['--version'] : withoutHelpOfUnknown(argv);
  await sealEarly(argv);
  for (const { heading, load } of asksVersion ? [] : named(argv)) {
    program.commandsGroup(heading);
    (await load())(program, context);
  }
  program.helpCommand(true);
  prepare(program, 'hearth');
  describeArguments(program);
  try {
    refuseUnknownBelow(program, args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = await report(error, context);
  }
}

/** commander would take an unknown word for an argument of the default verb. */
function refuseUnknownBelow(program: Command, args: readonly string[]): void {
  const [verb, word] = verbWords(args);
  if (verb === undefined || word === undefined) return;
  const known = verbs.flatMap((each) => each.names);
  if (verb === 'help' && !known.includes(word)) throw wrongUsage(unknownVerb(word, known));
  const names = (command: Command): string[] => [command.name(), ...command.aliases()];
  const found = program.commands.find((command) => names(command).includes(verb));
  const below = found?.commands.flatMap(names) ?? [];
  if (below.length > 0 && word !== 'help' && !below.includes(word))
    throw wrongUsage(unknownSubverb(verb, word, below));
}

const wrongUsage = (sentence: string): CliFailure => new CliFailure(printable(sentence), EXIT_CODES.usage);

/** Replaces commander's exit codes, and names the help for the command. */
function prepare(command: Command, line: string): void {
  command.exitOverride().showHelpAfterError(`(${beforeOthers(command)}${line} --help explains it)`);
  for (const below of command.commands) prepare(below, `${line} ${below.name()}`);
}

/** An unknown option may be meant for a program that the arguments name. */
function beforeOthers({ registeredArguments }: Command): string {
  const last = registeredArguments.at(-1)?.name() ?? '';
  return ['command', 'args'].includes(last) ? 'write -- before the options of another program; ' : '';
}

/** Runs before the server's packages are loaded, so that none of them can open a connection. */
async function sealEarly(argv: readonly string[]): Promise<void> {
  const isServe = argv.some((word) => word === 'serve' || word === 'start');
  const asked = argv.includes('--sealed') || /^(?:1|true|yes|on)$/i.test(process.env['SVC_SEALED'] ?? '');
  if (!isServe || !asked) return;
  await (await import('./apart.ts')).standApart();
  await (await import('../lib/seal/seal.ts')).sealNetwork('listening');
}

const EXIT_CODE_OF_FAMILY: Partial<Record<Family, number>> = {
  not_found: EXIT_CODES.notFound,
  request: EXIT_CODES.usage,
};

/** These print text derived from all verbs. */
const WHOLE_TREE = ['help', 'completion', 'man'];

function named(argv: readonly string[]): typeof verbs {
  const meant = verbs.filter(({ names }) => names.some((name) => argv.includes(name)));
  const wantsAll = argv.some((word) => WHOLE_TREE.includes(word));
  return meant.length > 0 && !wantsAll ? meant : verbs;
}

/** commander would print the program's help for an unknown verb. */
function withoutHelpOfUnknown(argv: readonly string[]): string[] {
  const words = verbWords(argv);
  const [verb] = words;
  const isKnown = verb === undefined || verb === 'help' || verbs.some(({ names }) => names.includes(verb));
  return isKnown ? [...argv] : words;
}

function verbWords(argv: readonly string[]): string[] {
  return argv.filter((word, at) => !word.startsWith('-') && argv[at - 1] !== '--home');
}

async function report(thrown: unknown, context: CliContext): Promise<number> {
  // commander has already printed its message; help and --version are no failures.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage;
  // A full disk or a missing permission is not a bug.
  const error = thrown instanceof Error ? (fileFailure(thrown) ?? thrown) : thrown;
  const message = errorMessage(error);
  const advice = isSvcError(error) ? await advise(error, context) : '';
  process.stderr.write(`hearth: ${printable(inCliWords(message) + advice)}\n`);
  if (error instanceof CliFailure) return error.exitCode;
  if (isSvcError(error)) return EXIT_CODE_OF_FAMILY[catalogueEntry(error.code).family] ?? EXIT_CODES.failure;
  process.stderr.write(`${error instanceof Error ? error.stack : ''}\n`);
  return EXIT_CODES.failure;
}

async function advise(error: unknown, context: CliContext): Promise<string> {
  // Loaded on demand: a successful verb needs no advice and no registry.
  const { adviceFor } = await import('./words/advice.ts');
  const { localRegistry } = await import('./local-registry.ts');
  return adviceFor(
    error,
    async () => {
      const models = await localRegistry(context.config()).list();
      return models.flatMap(({ id, aliases }) => [id, ...aliases]);
    },
    context.env,
  );
}

/** `hearth list | head -1` closes our stdout, and a terminal may close while the service ends; neither is an error. */
function ignoreBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
  }
}
