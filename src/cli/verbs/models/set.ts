import type { Command } from 'commander';
import { findSeen, limitSeen } from '../../../server/api/remote-models/name-models.ts';
import { didYouMean, nearest } from '../../../lib/base/nearest.ts';
import { parseDuration } from '../../../lib/base/duration.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import { CHOSEN_TEMPLATE_TOKENS } from '../../../contract/limits.ts';
import { shortText } from '../../../contract/settings/shapes.ts';
import { isBaseModel, type ModelParams } from '../../../store/files/manifest.ts';
import type { ParamsPatch } from '../../../store/install/changes.ts';
import { isTextSetting, textFromCommand } from '../../../store/install/setting-texts.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { paramNames, paramsByName, readParam, whenItActs } from '../../../store/registry/param-names.ts';
import { paramText } from '../../../store/registry/param-rows.ts';
import { reducedWindow } from '../../../store/registry/target.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { textOfFile } from '../../read-file.ts';
import { localRegistry, setHere } from '../../local-registry.ts';

export function registerSet(program: Command, context: CliContext): void {
  program
    .command('set')
    .description(
      "set a model's defaults, used where a request sets nothing; an empty value removes one, no value at all lists them",
    )
    .argument('<id>')
    .argument(
      '[name=value...]',
      `with one of the names ${Object.keys(paramNames).join(', ')}; what they do: docs/model-settings.md`,
    )
    .option('--json', 'one JSON document: all that is set now')
    .action(async (id: string, pairs: string[], flags: { json?: boolean }) => {
      const patch = await readPairs(pairs);
      const registry = localRegistry(context.config());
      if (pairs.length === 0) return list(context, await registry.find(id), flags.json === true);
      if (!(await registry.has(id)) && (await setRemote(registry, id, patch)))
        return context.note(printable(`Applies to ${id} from the next request on.`));
      const wasBase = (await registry.has(id)) && isBaseModel(await registry.find(id));
      const model = await setHere(context, registry, id, patch);
      list(context, model, flags.json === true);
      const unload = `hearth stop ${model.id} unloads it`;
      context.note(printable(whenItActs(model.id, patch, unload)));
      const reduced = 'numCtx' in patch ? reducedWindow(model) : null;
      if (reduced !== null) context.note(printable(reduced.note));
      if (wasBase && !isBaseModel(model)) context.note(printable(chatWords(model.id)));
    });
}

function list(
  context: CliContext,
  { id, params }: Awaited<ReturnType<Registry['find']>>,
  json: boolean,
): void {
  const set = paramsByName(params);
  if (json) context.printJson(Object.fromEntries(set.map(([asked, { value }]) => [asked, value])));
  else if (set.length === 0) context.print(printable(`${id} has no settings of its own.`));
  else context.print(set.map(line).join('\n'));
}

const chatWords = (id: string): string =>
  `${id} counts as a chat model now: its answers end after ${CHOSEN_TEMPLATE_TOKENS} tokens, unless max_tokens says otherwise.`;

const isDocument = (name: keyof ModelParams): boolean => name === 'system' || isTextSetting(name);

function line([asked, { name, value }]: ReturnType<typeof paramsByName>[number]): string {
  const values =
    name === 'stop'
      ? (value as readonly string[])
      : [isDocument(name) ? shortText(String(value)) : paramText(name, value)];
  return values.map((each) => printable(`${asked}=${each}`)).join('\n');
}

/** A model of another engine has one setting here; the rest is set there. False if no engine has it. */
async function setRemote(registry: Registry, id: string, patch: ParamsPatch): Promise<boolean> {
  const engines = new EngineStore(registry.store);
  if ((await findSeen(engines, id)) === null) return false;
  const { privacy, ...others } = patch;
  if (privacy === undefined || Object.keys(others).length > 0)
    throw usage(`${id} runs elsewhere; only privacy can be set here, all else where it runs`);
  return limitSeen(engines, id, privacy);
}

async function readPairs(pairs: readonly string[]): Promise<ParamsPatch> {
  const patch: Record<string, unknown> = {};
  for (const pair of pairs) {
    const [, key = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(pair) ?? [];
    const name = Object.hasOwn(paramNames, key) ? paramNames[key] : undefined;
    if (name === undefined) throw usage(notAPair(pair, key));
    if (value === '') patch[name] = null;
    else if (name === 'stop') patch[name] = [...((patch[name] as string[] | undefined) ?? []), value];
    else if (isTextSetting(name)) patch[name] = await textFromCommand(name, value);
    else if (name === 'system') patch[name] = await systemFromCommand(value);
    else patch[name] = readValue(name, key, value);
  }
  return patch;
}

async function systemFromCommand(value: string): Promise<string> {
  const read = readParam('system', value.startsWith('@') ? (await textOfFile(value.slice(1))).trim() : value);
  if ('expects' in read) throw usage(`system is not usable; write ${read.expects}`);
  return read.value as string;
}

function notAPair(pair: string, key: string): string {
  if (!pair.includes('='))
    return `"${pair}" has no value; write it as ${pair}=VALUE, and an empty value to remove it`;
  const word = key === '' ? (pair.split('=', 1)[0] ?? '') : key;
  return `there is no setting ${word}.${didYouMean(nearest(word, Object.keys(paramNames)))} hearth set --help lists them.`;
}

function readValue(name: keyof ModelParams, key: string, text: string): unknown {
  if (name === 'keepAlive') return checkedDuration(text);
  const read = readParam(name, text);
  if ('expects' in read) throw usage(`${key}=${text} is not usable; write ${read.expects}`);
  return read.value;
}

function checkedDuration(value: string): string {
  if (parseDuration(value) !== undefined) return value;
  throw usage(`keep_alive=${value} is not a duration; write for example 30s, 10m, 0 or -1`);
}

const usage = (message: string): CliFailure => new CliFailure(message, EXIT_CODES.usage);
