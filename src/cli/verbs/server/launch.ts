import path from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../../../config/config.ts';
import { didYouMean, nearest } from '../../../lib/base/nearest.ts';
import type { DryRun } from '../../../wire/inference/dry-run.ts';
import type { LoadPlan } from '../../../wire/operation/library.ts';
import { routes } from '../../../wire/routes.ts';
import { baseUrl, callServer, expectOk } from '../../api.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable, table } from '../../context.ts';
import { DEFAULT_MODEL } from '../../conversation/opening.ts';
import { isTool, knownTools } from '../../launch/known.ts';
import { type Facts, renderLaunch, settingsText, shellLines } from '../../launch/render.ts';
import { isOnPath } from '../../../lib/files/program.ts';
import { runProgram } from '../../launch/start.ts';
import type { Editor, Tool } from '../../launch/tools.ts';
import { findAnswerer } from '../../terminal/answer-source.ts';
import { ownAuthority } from '../../transport.ts';

interface LaunchFlags {
  readonly print?: boolean;
  readonly model: string;
}

/** In tokens; system prompts of coding agents take up to half of it. */
const AGENT_WINDOW = 16_384;
const LARGE_WINDOW = 65_536;

export function registerLaunch(program: Command, context: CliContext): void {
  program
    .command('launch [tool] [args...]')
    .description(
      'start a coding agent with the running service as its model, or print the settings of an editor; without a name, list them',
    )
    .option('--print', 'print the variables and the command as lines for a shell, and start nothing')
    .option('--model <id>', 'the model for the agent', DEFAULT_MODEL)
    .action(async (name: string | undefined, args: string[], flags: LaunchFlags) => {
      const config = context.config();
      const known = await knownTools(config.home);
      if (name === undefined) return context.print(list(known));
      const tool = findTool(name, known);
      const folder = path.join(config.home, 'launch', name);
      if (!isTool(tool)) return printSettings(context, { name, tool, folder }, flags);
      // Checked before any request: a useless load takes minutes.
      if (flags.print !== true && !(await isOnPath(tool.program, context.env['PATH']))) throw notFound(tool);
      const { id: model, readsImages: vision = false } = await findAnswerer(config, flags.model);
      const window = await askWindow(context, model, flags.print === true);
      if (window !== null && window < AGENT_WINDOW) context.note(await tooSmall(config, model, window));
      const facts = launchFacts(config, { model, context: window, vision, folder });
      if (flags.print === true) return context.print(shellLines(tool, facts, args).join('\n'));
      context.note(summary(tool, facts));
      const code = await runProgram(renderLaunch(tool, facts, args), context.env);
      if (code === null) throw notFound(tool);
      context.setExitCode(code);
    });
}

function launchFacts(config: Config, rest: Pick<Facts, 'model' | 'context' | 'vision' | 'folder'>): Facts {
  const certificate = ownAuthority(config);
  return {
    ...rest,
    url: baseUrl(config),
    key: config.apiKey,
    certificate: certificate === null ? null : path.resolve(certificate),
  };
}

/**
 * The model's window in tokens. Printing loads nothing and returns the window that a load would get. Starting loads
 * the model, as the first request would anyway. Null if only a load could decide.
 */
async function askWindow(context: CliContext, model: string, printsOnly: boolean): Promise<number | null> {
  const config = context.config();
  const { loaded, num_ctx: planned } = await askPlan(config, model);
  if (loaded) return planned;
  if (printsOnly) {
    context.note(notLoaded(model, planned));
    return planned;
  }
  context.note(`Loading ${printable(model)}, to learn its window …`);
  const hello = { model, messages: [{ role: 'user', content: 'Hello' }] };
  const path = `${routes.chatCompletions.path}?svc_dry_run=1`;
  const { status, body } = await callServer(config, 'POST', path, hello);
  // A model whose plan fails can still answer; its first answer reports the problem.
  return status === 200 ? (body as DryRun).num_ctx : null;
}

async function askPlan(config: Config, model: string, numCtx?: number): Promise<LoadPlan> {
  const query = new URLSearchParams({ model, ...(numCtx === undefined ? {} : { num_ctx: String(numCtx) }) });
  return expectOk(await callServer(config, 'GET', `${routes.loadPlan.path}?${query.toString()}`)) as LoadPlan;
}

async function printSettings(
  context: CliContext,
  { name, tool, folder }: { readonly name: string; readonly tool: Editor; readonly folder: string },
  flags: LaunchFlags,
): Promise<void> {
  if (flags.print !== true) {
    const remedy = `print what belongs into its settings: hearth launch ${name} --print`;
    throw new CliFailure(`${tool.title} is not started from here; ${remedy}`, EXIT_CODES.usage);
  }
  const config = context.config();
  const { id: model, readsImages: vision = false } = await findAnswerer(config, flags.model);
  const window = (await askWindow(context, model, true)) ?? AGENT_WINDOW;
  const facts = launchFacts(config, { model, context: window, vision, folder });
  const { text, note } = settingsText(tool, facts);
  context.note(`For ${tool.settings}. ${note}`);
  if (facts.certificate !== null) {
    context.note(
      `${tool.title} has to trust the certificate as well: add ${facts.certificate} to those of the system.`,
    );
  }
  context.print(text);
}

type Known = Awaited<ReturnType<typeof knownTools>>;

function list(known: Known): string {
  const rows = Object.entries(known).map(([name, tool]) => [
    name,
    tool.title,
    isTool(tool) ? tool.install : `hearth launch ${name} --print`,
  ]);
  return table([['TOOL', 'PROGRAM', 'INSTALL'], ...rows]);
}

function findTool(name: string, all: Known): Tool | Editor {
  const names = Object.keys(all);
  const tool = Object.hasOwn(all, name) ? all[name] : undefined;
  if (tool !== undefined) return tool;
  const known = `hearth launch knows ${names.join(', ')}`;
  throw new CliFailure(
    `there is no tool ${printable(name)}; ${known}.${didYouMean(nearest(name, names))}`,
    EXIT_CODES.usage,
  );
}

function summary({ title, env, withCertificate }: Tool, facts: Facts): string {
  const { url, key, model, context, certificate } = facts;
  const names = Object.keys({ ...env, ...(certificate === null ? {} : withCertificate?.env) });
  const keySource = key === null ? 'no key' : 'the key of SVC_API_KEY';
  const size = context === null ? '' : ` (${context} tokens)`;
  return `${title} uses ${printable(model)}${size} at ${url} with ${keySource}; set for it: ${names.join(', ')}.`;
}

function notLoaded(model: string, planned: number | null): string {
  const id = printable(model);
  return planned === null
    ? `${id} is not loaded, and its window is known only then; run it once, or set one with: hearth set ${id} num_ctx=65536`
    : `${id} is not loaded; a load would get a window of ${planned} tokens now.`;
}

/** A model never gets a larger window than it was trained for. */
async function tooSmall(config: Config, model: string, window: number): Promise<string> {
  const { num_ctx: largest } = await askPlan(config, model, LARGE_WINDOW);
  const canGrow = largest === null || largest > window;
  const enlarged = canGrow
    ? `enlarge it with: hearth set ${printable(model)} num_ctx=${LARGE_WINDOW}, or `
    : '';
  return `The window of ${printable(model)} has ${window} tokens, which the instructions of an agent alone may fill; ${enlarged}choose a model with a larger one.`;
}

function notFound({ title, program, install }: Tool): CliFailure {
  return new CliFailure(
    `${title} is not installed (there is no ${program} on PATH); install it with: ${install}`,
    EXIT_CODES.notFound,
  );
}
