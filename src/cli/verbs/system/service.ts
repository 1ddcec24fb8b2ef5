/**
 * cli/verbs/system owns the verbs about this machine and this program. It does not know models. This file: hearth
 * service, which starts Hearth with the machine or the session.
 */
import path from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type SettingName, settings } from '../../../config/settings.ts';
import { formatDuration, parseDuration } from '../../../lib/base/duration.ts';
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import { packageFolder } from '../../../lib/base/package-folder.ts';
import { baseUrl } from '../../api.ts';
import { type CliContext, CliFailure, EXIT_CODES, printable } from '../../context.ts';
import { SERVICE_KINDS, type ServiceKind, unwritable } from '../../service/definition.ts';
import { servicePlan, type ServicePlan } from '../../service/manager.ts';
import { type ProgramResult, runProgram, showProgram } from '../../service/programs.ts';
import { SYSTEM_ENVIRONMENT, SYSTEM_HOME } from '../../service/systemd.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../../config/config.ts';
import { askHealth } from '../../open-request.ts';

interface ServiceFlags {
  readonly system?: boolean;
  readonly gpu?: boolean;
  readonly start?: boolean;
  readonly print?: boolean;
  readonly for?: ServiceKind;
}

/** A day, for a service whose answers have no time limit. */
const LONGEST_STOP_SECONDS = 86_400;

export function registerService(program: Command, context: CliContext): void {
  const service = program
    .command('service')
    .description('run Hearth as a service of the system: systemd, launchd, or the Windows Task Scheduler');
  const system = () =>
    new Option('--system', 'the service of the whole machine, not of this user; with systemd, as root');
  service
    .command('install')
    .description('write the definition of the service, enable it, and start it')
    .addOption(system())
    .option('--gpu', 'let a service of the whole machine use GPUs')
    .option('--no-start', 'do not start it now, but at the next login or boot')
    .option('--print', 'print the definition to stdout and change nothing')
    .addOption(
      new Option('--for <kind>', 'with --print: for which kind of service manager').choices(SERVICE_KINDS),
    )
    .action((flags: ServiceFlags) => install(context, flags));
  service
    .command('uninstall')
    .description('stop the service and remove its definition; models and settings stay')
    .addOption(system())
    .action((flags: ServiceFlags) => uninstall(context, planHere(context, flags)));
  service
    .command('status')
    .description('show whether the service is installed, running and answering')
    .addOption(system())
    .option('--json', 'one JSON document')
    .action((flags: ServiceFlags & { json?: boolean }) => status(context, flags));
  service
    .command('logs')
    .description('show what the service has printed')
    .addOption(system())
    .option('-n, --lines <n>', 'how many lines, counted from the last', lineCount, '100')
    .option('-f, --follow', 'keep printing new lines until Ctrl-C')
    .action((flags: ServiceFlags & { lines: string; follow?: boolean }) => logs(context, flags));
  service
    .command('wait')
    .description('wait until a service answers at the configured address')
    .addOption(
      new Option('--timeout <duration>', 'for how long').argParser(readDuration).default(90_000, '90s'),
    )
    .action(({ timeout }: { timeout: number }) => waitUntilAnswering(context.config(), timeout));
}

async function install(context: CliContext, flags: ServiceFlags): Promise<void> {
  if (flags.for !== undefined && flags.print !== true) {
    throw new CliFailure(
      '--for needs --print: a service can be installed only where it runs',
      EXIT_CODES.usage,
    );
  }
  const plan = planHere(context, flags);
  if (flags.print === true) return context.write(plan.text);
  requireReachable(plan);
  noteUnseen(context, plan);
  const before = await readFile(plan.file, 'utf8').catch(() => null);
  const newFolder = await makeDefinitionFolder(plan);
  try {
    await writeDefinition(plan);
    for (const command of [...plan.enable, ...(flags.start === false ? [] : plan.start)])
      expectDone(plan, command, await runProgram(command));
  } catch (error) {
    await undoInstall(plan, { before, newFolder });
    throw error;
  }
  const state = flags.start === false ? 'is installed' : 'is installed and runs';
  context.note(`The service ${state}: ${plan.file}`);
  for (const line of plan.advice) context.note(line);
}

async function makeDefinitionFolder(plan: ServicePlan): Promise<string | undefined> {
  return mkdir(path.dirname(plan.file), { recursive: true }).catch((cause: unknown) => {
    throw unwritableDefinition(plan, cause);
  });
}

async function writeDefinition(plan: ServicePlan): Promise<void> {
  await writeFile(plan.file, plan.text, { mode: 0o644 }).catch((cause: unknown) => {
    throw unwritableDefinition(plan, cause);
  });
}

function unwritableDefinition({ file, remedy }: ServicePlan, cause: unknown): CliFailure {
  return new CliFailure(
    `${file} cannot be written (${errorMessage(cause)}), so nothing was installed; ${remedy}`,
    EXIT_CODES.failure,
    cause,
  );
}

interface BeforeInstall {
  readonly before: string | null;
  readonly newFolder: string | undefined;
}

/** Ignores failing programs: they failed before the installation, too. */
async function undoInstall(plan: ServicePlan, { before, newFolder }: BeforeInstall): Promise<void> {
  for (const command of plan.disable) await runProgram(command);
  if (before === null) await rm(plan.file, { force: true });
  else await writeFile(plan.file, before);
  if (newFolder !== undefined) await rm(newFolder, { recursive: true, force: true });
  for (const command of before === null ? plan.forget : [...plan.enable, ...plan.start])
    await runProgram(command);
}

async function uninstall(context: CliContext, plan: ServicePlan): Promise<void> {
  if (!existsSync(plan.file))
    throw new CliFailure(`no service is installed at ${plan.file}`, EXIT_CODES.notFound);
  for (const command of plan.disable) await runProgram(command);
  await rm(plan.file, { force: true });
  for (const command of plan.forget) await runProgram(command);
  const home = plan.kind === 'systemd-system' ? SYSTEM_HOME : context.config().home;
  context.note(`The service is removed. Models and settings are still in ${home}.`);
}

async function status(context: CliContext, flags: ServiceFlags & { json?: boolean }): Promise<void> {
  const plan = planHere(context, flags);
  const config = context.config();
  const installed = existsSync(plan.file);
  const current = installed && (await readFile(plan.file, 'utf8')) === plan.text;
  const running = installed && (await runProgram(plan.active)).code === 0;
  const answers = await isAnswering(config, 2000);
  if (flags.json === true) {
    context.printJson({
      kind: plan.kind,
      file: plan.file,
      installed,
      current,
      running,
      answers,
      url: baseUrl(config),
    });
  } else {
    context.print(
      installed ? `installed   ${plan.file}` : 'installed   no; to install it: hearth service install',
    );
    if (installed && !current) {
      context.print(
        '            it differs from what this version of Hearth writes; to renew it: hearth service install',
      );
    }
    context.print(`running     ${running ? 'yes' : 'no'}`);
    context.print(`answering   ${answers ? 'yes' : 'no'}, at ${baseUrl(config)}`);
  }
  if (!running) context.setExitCode(EXIT_CODES.unreachable);
}

async function logs(
  context: CliContext,
  flags: ServiceFlags & { lines: string; follow?: boolean },
): Promise<void> {
  const plan = planHere(context, flags);
  if (plan.logs === null) throw new CliFailure('the Task Scheduler keeps nothing of what a task prints');
  const command = plan.logs(flags.lines, flags.follow === true);
  const code = await showProgram(command);
  if (code === null) throw new CliFailure(`there is no ${command[0]} on this machine`);
  context.setExitCode(code);
}

export function installedPlans(context: CliContext): ServicePlan[] {
  const wholeMachine = process.platform === 'linux' && !context.config().dev ? [{ system: true }] : [];
  return [{}, ...wholeMachine]
    .map((flags) => planHere(context, flags))
    .filter(({ file }) => existsSync(file));
}

function planHere(context: CliContext, flags: ServiceFlags): ServicePlan {
  const config = context.config();
  const kind = flags.for ?? kindHere(flags.system === true);
  if (kind === 'systemd-system' && config.dev)
    throw new CliFailure('--dev is for a user; --system is for the machine', EXIT_CODES.usage);
  const facts = {
    node: process.execPath,
    script: path.join(packageFolder, 'bin', 'hearth.js'),
    // Without --dev, which the service adds.
    home:
      config.origins.home === 'default'
        ? null
        : config.home.slice(0, config.dev ? -'-dev'.length : undefined),
    dev: config.dev,
    userHome: homedir(),
    stopSeconds: Math.min(Math.ceil(config.drainTimeoutMs / 1000) + 10, LONGEST_STOP_SECONDS),
    gpuGroups: flags.gpu === true ? gpuGroups() : null,
  };
  for (const file of [facts.node, facts.script, facts.home ?? '/'])
    if (unwritable(file)) throw new CliFailure(`no service can be defined: ${unwritable(file)}`);
  return servicePlan(kind, { facts, env: context.env, uid: process.getuid?.() ?? 0 });
}

function kindHere(system: boolean): ServiceKind {
  if (process.platform === 'linux') return system ? 'systemd-system' : 'systemd-user';
  if (system) throw new CliFailure('--system is for systemd only', EXIT_CODES.usage);
  if (process.platform === 'darwin') return 'launchd';
  if (process.platform === 'win32') return 'windows';
  throw new CliFailure(`there is no kind of service for ${process.platform}; run: hearth serve`);
}

/** The system's service has its own account, which cannot read home folders. */
function requireReachable({ kind }: ServicePlan): void {
  if (kind !== 'systemd-system') return;
  const hidden = [process.execPath, packageFolder].find((file) => /^\/(home|root|run\/user)\//.test(file));
  if (hidden === undefined) return;
  throw new CliFailure(
    `the service of the machine cannot read ${hidden}; install Node and Hearth outside home folders, for example with --prefix /opt/hearth, or leave --system out`,
  );
}

/** A service does not inherit the environment of this terminal. */
function noteUnseen(context: CliContext, { kind }: ServicePlan): void {
  const { origins } = context.config();
  const names = (Object.keys(settings) as SettingName[])
    .filter((name) => name !== 'home' && origins[name] === 'environment')
    .map((name) => settings[name].env);
  if (names.length === 0) return;
  const place = kind === 'systemd-system' ? SYSTEM_ENVIRONMENT : 'config.toml in the home folder';
  context.note(`The service does not see ${names.join(', ')} of this terminal; write them into ${place}.`);
}

function expectDone(
  { remedy }: ServicePlan,
  command: readonly string[],
  { code, output }: ProgramResult,
): void {
  if (code === 0) return;
  const [name = ''] = command;
  const reason =
    code === null
      ? `there is no ${name} on this machine`
      : `${command.join(' ')} failed: ${printable(output) || `exit code ${code}`}`;
  throw new CliFailure(`${reason}; nothing was installed; ${remedy}`);
}

/** Existing groups that own GPU devices: systemd refuses a unit with an unknown one. */
function gpuGroups(): string[] {
  const groups = existsSync('/etc/group') ? readFileSync('/etc/group', 'utf8') : '';
  return ['video', 'render'].filter((name) => new RegExp(`^${name}:`, 'm').test(groups));
}

function lineCount(text: string): string {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('not a whole number');
  return text;
}

function readDuration(text: string): number {
  const span = parseDuration(text);
  if (span === undefined) throw new InvalidArgumentError('not a duration such as 30s');
  return span;
}

const PAUSE_MS = 100;

async function waitUntilAnswering(config: Config, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isAnswering(config, 1000))) {
    if (performance.now() >= deadline) {
      throw new CliFailure(
        `nothing answers at ${baseUrl(config)} after ${formatDuration(timeoutMs)}`,
        EXIT_CODES.unreachable,
      );
    }
    await delay(PAUSE_MS);
  }
}

async function isAnswering(config: Config, timeoutMs: number): Promise<boolean> {
  return (await askHealth(config, timeoutMs)) !== null;
}
