import { type Command, Option } from 'commander';
import type { Config } from '../../../config/config.ts';
import { AUDIO_KINDS, IMAGE_KINDS, detectKind } from '../../../lib/base/file-kinds.ts';
import { parseDuration } from '../../../lib/base/duration.ts';
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import { knownName } from '../../../store/hub/choose/known-names.ts';
import type { ModelEntry } from '../../../wire/models.ts';
import { CliFailure, type CliContext, type ExitCode, EXIT_CODES } from '../../context.ts';
import { commandNames } from '../../conversation/commands.ts';
import { DEFAULT_MODEL, mayBeModel, readOpening } from '../../conversation/opening.ts';
import { type Answerer, newConversation, type Opening } from '../../conversation/state.ts';
import { introduction } from '../../conversation/step.ts';
import { bytesOfFile, textOfFile } from '../../read-file.ts';
import { openAnswerer, findAnswerer, findModel, notInstalled } from '../../terminal/answer-source.ts';
import { LineEditor } from '../../terminal/line-editor.ts';
import { openHistory, sessionHistory } from '../../terminal/line-history.ts';
import { Screen } from '../../terminal/screen.ts';
import { type Left, Session } from '../../terminal/session.ts';

interface RunFlags {
  readonly system?: string;
  readonly maxTokens?: string;
  readonly temperature?: string;
  readonly numCtx?: string;
  readonly keepalive?: string;
  readonly verbose?: boolean;
  readonly format?: string;
  readonly think?: boolean;
  readonly image?: readonly string[];
  readonly audio?: readonly string[];
}

export function registerRun(program: Command, context: CliContext): void {
  program
    .command('run [model] [prompt...]')
    .description(
      'ask a model of the running service, or talk with it; a question alone goes to the default model, and text from stdin precedes the prompt',
    )
    .option('--system <text>', 'the system message')
    .option('--max-tokens <n>', 'the most tokens that an answer may have')
    .option('--temperature <t>', 'sampling temperature; 0 is greedy')
    .option('--num-ctx <n>', 'context window in tokens')
    .option(
      '--format <file>',
      'answer as JSON: valid for the JSON Schema in this file, or any JSON for the word json',
    )
    .option('--think', 'let a model think that can; --no-think keeps it from it')
    .addOption(new Option('--no-think').hideHelp())
    .option('--image <file>', 'an image for the model to look at; several times for more', collect)
    .option('--audio <file>', 'audio for the model to listen to; several times for more', collect)
    .option(
      '--keepalive <duration>',
      'how long the model stays loaded afterwards: 30s, 10m, 0, or -1 for no limit',
    )
    .option('--verbose', 'show tokens and speed after each answer')
    .action(async (model: string | undefined, words: string[], flags: RunFlags) => {
      const config = context.config();
      const options = { ...readOptions(flags), ...(await formatOption(flags.format)) };
      const media = await Promise.all([
        ...(flags.image ?? []).map(imagePart),
        ...(flags.audio ?? []).map(audioPart),
      ]);
      const opened = await open(context, model === undefined ? [] : [model, ...words]);
      if (opened === null) return;
      const prompt = [await pipedText(), opened.prompt].filter((part) => part !== '').join('\n\n');
      if (prompt === '' && !process.stdin.isTTY)
        throw new CliFailure('nothing to ask: give a prompt, or text on stdin', EXIT_CODES.usage);
      if (media.length > 0 && prompt === '') {
        throw new CliFailure(
          '--image and --audio need a question: hearth run MODEL --image FILE "What is this?"',
          EXIT_CODES.usage,
        );
      }
      const opening: Opening = {
        model: opened.model,
        system: flags.system,
        options,
        isVerbose: flags.verbose === true,
        media,
      };
      const left =
        prompt === '' ? await converse(context, config, opening) : await ask(config, opening, prompt);
      if (left.sentence !== null) throw new CliFailure(left.sentence, left.exitCode as ExitCode);
      context.setExitCode(left.exitCode);
    });
}

const collect = (file: string, files: readonly string[] = []): readonly string[] => [...files, file];

interface Opened {
  readonly model: Answerer;
  readonly prompt: string;
}

async function open(context: CliContext, words: readonly string[]): Promise<Opened | null> {
  const config = context.config();
  const [first] = words;
  const found = first !== undefined && mayBeModel(first) ? await findModel(config, first) : null;
  const named = found ?? (first === undefined ? null : await pulled(context, first));
  if (named === 'interrupted') return null;
  const opened = readOpening(words, { isInstalled: named !== null });
  if (opened === undefined) {
    const advice = ` To ask the default model: hearth run ${DEFAULT_MODEL} "${inQuotes(words.join(' '))}"`;
    throw await notInstalled(config, first ?? '', advice);
  }
  const model = named === null ? await findAnswerer(config, opened.model) : await openAnswerer(config, named);
  return { model, prompt: opened.prompt };
}

/** Repeats only text that every shell reads alike. */
const inQuotes = (text: string): string => (/^[\w .,:;?-]{1,60}$/.test(text) ? text : '…');

async function pulled(context: CliContext, name: string): Promise<ModelEntry | 'interrupted' | null> {
  const reference = knownName(name)?.reference ?? null;
  if (reference === null || !process.stdin.isTTY || !process.stderr.isTTY) return null;
  const { confirm } = await import('@clack/prompts');
  const message = `${name} is not installed. Pull ${reference}?`;
  if ((await confirm({ message, output: process.stderr })) !== true) return null;
  const { pull } = await import('../models/pull.ts');
  const id = await pull(context, reference, { probe: true });
  if (id === null) return 'interrupted';
  return findModel(context.config(), id);
}

async function ask(config: Config, opening: Opening, prompt: string): Promise<Left> {
  const screen = newScreen(true);
  const state = newConversation({ ...opening, isSingle: true });
  if (process.stderr.isTTY) for (const warning of introduction(state).slice(1)) screen.say(warning);
  const session = new Session(state, { config, screen });
  const interrupt = (): void => session.dispatch({ on: 'interrupt', lineIsEmpty: true });
  process.on('SIGINT', interrupt);
  session.dispatch({ on: 'line', text: prompt });
  const left = await session.left;
  process.off('SIGINT', interrupt);
  return left;
}

async function converse(context: CliContext, config: Config, opening: Opening): Promise<Left> {
  const session = new Session(newConversation(opening), { config, screen: newScreen(true) });
  const note = (text: string): void => context.note(text);
  const history = config.runHistory ? await openHistory(config.home, note) : sessionHistory;
  const lines = new LineEditor({
    input: process.stdin,
    output: process.stderr,
    history,
    words: commandNames,
    onLine: (text) => session.dispatch({ on: 'line', text }),
    onInterrupt: (lineIsEmpty) => session.dispatch({ on: 'interrupt', lineIsEmpty }),
    onEnd: () => session.dispatch({ on: 'end' }),
  });
  // Ctrl-C sends a signal and no key if stderr is no terminal, because the editor is inactive then.
  const interrupt = (): void => session.dispatch({ on: 'interrupt', lineIsEmpty: true });
  const ends = (['SIGTERM', 'SIGHUP'] as const).map((name) => {
    const end = (): void => {
      lines.close();
      process.kill(process.pid, name);
    };
    process.once(name, end);
    return () => process.off(name, end);
  });
  process.on('SIGINT', interrupt);
  session.converse(lines);
  const left = await session.left;
  process.off('SIGINT', interrupt);
  for (const remove of ends) remove();
  history.close();
  return left;
}

const newScreen = (showsStatus: boolean): Screen =>
  new Screen({ out: process.stdout, err: process.stderr, showsStatus });

async function pipedText(): Promise<string> {
  if (process.stdin.isTTY) return '';
  let text = '';
  for await (const part of process.stdin) text += String(part);
  return text.trim();
}

function readOptions(flags: RunFlags): Readonly<Record<string, unknown>> {
  const options = {
    keep_alive: duration('--keepalive', flags.keepalive),
    max_tokens: numeric('--max-tokens', flags.maxTokens),
    temperature: numeric('--temperature', flags.temperature),
    num_ctx: numeric('--num-ctx', flags.numCtx),
    enable_thinking: flags.think,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

async function formatOption(file: string | undefined): Promise<Readonly<Record<string, unknown>>> {
  if (file === undefined) return {};
  if (file === 'json') return { response_format: { type: 'json_object' } };
  let schema: unknown;
  try {
    schema = JSON.parse(await textOfFile(file));
  } catch (cause) {
    if (cause instanceof CliFailure) throw cause;
    throw new CliFailure(`${file} is not a JSON Schema: ${errorMessage(cause)}`, EXIT_CODES.usage, cause);
  }
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } } };
}

async function imagePart(file: string): Promise<object> {
  const { kind, base64 } = await readMedium(file, IMAGE_KINDS, 'an image');
  return { type: 'image_url', image_url: { url: `data:image/${kind};base64,${base64}` } };
}

async function audioPart(file: string): Promise<object> {
  const { kind, base64 } = await readMedium(file, AUDIO_KINDS, 'audio');
  return { type: 'input_audio', input_audio: { data: base64, format: kind } };
}

async function readMedium(
  file: string,
  kinds: Readonly<Record<string, RegExp>>,
  what: string,
): Promise<{ readonly kind: string; readonly base64: string }> {
  const bytes = await bytesOfFile(file);
  const kind = detectKind(kinds, bytes);
  if (kind !== null) return { kind, base64: bytes.toString('base64') };
  const known = Object.keys(kinds).join(', ').toUpperCase();
  throw new CliFailure(`${file} is not ${what} that is known here (${known})`, EXIT_CODES.usage);
}

/** The service would refuse it too, but in the terms of a request. */
function duration(flag: string, text: string | undefined): string | undefined {
  if (text === undefined || parseDuration(text) !== undefined) return text;
  throw new CliFailure(
    `${flag} must be a duration, such as 30s, 10m, 0, or -1 for no limit`,
    EXIT_CODES.usage,
  );
}

function numeric(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value))
    throw new CliFailure(`${flag} must be a number`, EXIT_CODES.usage);
  return value;
}
