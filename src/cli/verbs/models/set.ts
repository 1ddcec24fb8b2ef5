/** hearth set ID name=value…: defaults of one model, below what a request says. */
import type { Command } from 'commander';
import { parseDuration } from '../../../lib/base/duration.ts';
import type { ModelParams } from '../../../store/files/manifest.ts';
import { setParams } from '../../../store/install/changes.ts';
import { isLoadSetting, paramNames, readParam } from '../../../store/registry/param-names.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

export function registerSet(program: Command, context: CliContext): void {
  program
    .command('set <id> <name=value...>')
    .description(`set a model's defaults (${Object.keys(paramNames).join(', ')}); an empty value removes one`)
    .action(async (id: string, pairs: string[]) => {
      const patch = readPairs(pairs);
      const model = await setParams(localRegistry(context.config()), id, patch);
      context.printJson(
        Object.fromEntries(
          Object.entries(paramNames).flatMap(([asked, name]) =>
            model.params[name] === undefined ? [] : [[asked, model.params[name]]],
          ),
        ),
      );
      context.note(printable(whenItActs(model.id, Object.keys(patch))));
    });
}

/** Settings of a load cannot reach a model that is loaded; the others are read with every request. */
function whenItActs(id: string, names: readonly string[]): string {
  const isOfLoad = (name: string): boolean => name === 'numCtx' || isLoadSetting(name);
  const [atLoad, withRequest] = [names.some(isOfLoad), !names.every(isOfLoad)];
  const load = `with the next load of ${id} (hearth stop ${id} unloads it)`;
  if (!atLoad) return 'This applies from the next request on.';
  return withRequest
    ? `Defaults of requests apply from the next request on, settings of loads ${load}.`
    : `This applies ${load}.`;
}

type Patch = { [Key in keyof ModelParams]?: ModelParams[Key] | null };

function readPairs(pairs: readonly string[]): Patch {
  const patch: Record<string, unknown> = {};
  for (const pair of pairs) {
    const [, key = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(pair) ?? [];
    const name = Object.hasOwn(paramNames, key) ? paramNames[key] : undefined;
    if (name === undefined)
      throw usage(`"${pair}" is not name=value with one of ${Object.keys(paramNames).join(', ')}`);
    if (value === '') patch[name] = null;
    else if (name === 'stop') patch[name] = [...((patch[name] as string[] | undefined) ?? []), value];
    else patch[name] = readValue(name, key, value);
  }
  return patch;
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
