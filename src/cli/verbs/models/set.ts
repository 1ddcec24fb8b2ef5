/** hearth set ID name=value…: defaults of one model, below what a request says. */
import { sharedParamNames } from '../../../store/registry/param-names.ts';
import type { Command } from 'commander';
import { parseDuration } from '../../../lib/base/duration.ts';
import { setParams } from '../../../store/install/changes.ts';
import type { ModelParams } from '../../../store/files/manifest.ts';
import { CliFailure, type CliContext, EXIT_CODES } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

/** Names as requests and the environment spell them. */
const NAMES: Readonly<Record<string, keyof ModelParams>> = {
  ...sharedParamNames,
  max_tokens: 'maxTokens',
  keep_alive: 'keepAlive',
  threads: 'threads',
};

export function registerSet(program: Command, context: CliContext): void {
  program
    .command('set <id> <name=value...>')
    .description(`set a model's defaults (${Object.keys(NAMES).join(', ')}); an empty value removes one`)
    .action(async (id: string, pairs: string[]) => {
      const model = await setParams(localRegistry(context.config()), id, readPairs(pairs));
      context.printJson(model.params);
    });
}

type Patch = { [Key in keyof ModelParams]?: ModelParams[Key] | null };

function readPairs(pairs: readonly string[]): Patch {
  const patch: Record<string, unknown> = {};
  for (const pair of pairs) {
    const [, key = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(pair) ?? [];
    const name = Object.hasOwn(NAMES, key) ? NAMES[key] : undefined;
    if (name === undefined) {
      throw new CliFailure(
        `"${pair}" is not name=value with one of ${Object.keys(NAMES).join(', ')}`,
        EXIT_CODES.usage,
      );
    }
    if (value === '') patch[name] = null;
    else if (name === 'stop') patch[name] = [...((patch[name] as string[] | undefined) ?? []), value];
    else patch[name] = name === 'keepAlive' ? checkedDuration(value) : Number(value);
  }
  return patch;
}

function checkedDuration(value: string): string {
  if (parseDuration(value) !== undefined) return value;
  throw new CliFailure(
    `keep_alive=${value} is not a duration; write for example 30s, 10m, 0 or -1`,
    EXIT_CODES.usage,
  );
}
