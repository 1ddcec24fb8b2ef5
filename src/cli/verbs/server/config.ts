import type { Command } from 'commander';
import { type Config, type ExaminedConfig, unknownVariables } from '../../../config/config.ts';
import { type Setting, type SettingName, settings } from '../../../config/settings.ts';
import type { ModelKind } from '../../../contract/load.ts';
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { readKeys } from '../../../store/keys/key-file.ts';
import { type CliContext, EXIT_CODES, table } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

export function registerConfig(program: Command, context: CliContext): void {
  program
    .command('config')
    .description('show every setting with its value and origin, and name mistakes')
    .option('--json', 'one JSON document')
    .option('--path', 'only the path of the config file')
    .action(async (flags: { json?: boolean; path?: boolean }) => {
      const examined = context.examineConfig();
      if (flags.path === true) return context.print(examined.file.path);
      const rows = await settingRows(examined.config);
      if (flags.json === true) context.printJson(rows);
      else context.print(described(rows, examined));
      for (const sentence of unknownVariables(context.env)) context.note(sentence);
      for (const { message } of examined.problems) context.note(`hearth: ${message}`);
      if (examined.problems.length > 0) context.setExitCode(EXIT_CODES.usage);
    });
}

type Row = Awaited<ReturnType<typeof settingRows>>[number];

function described(rows: readonly Row[], { file }: ExaminedConfig): string {
  const lines = rows.map(({ name, effective, origin }) => [name, effective, origin]);
  const state = file.exists ? '' : ' (not there)';
  return `${table([['SETTING', 'VALUE', 'ORIGIN'], ...lines])}\n\nconfig file: ${file.path}${state}`;
}

async function settingRows(config: Config) {
  const resolved: Partial<Record<SettingName, string>> = {
    ...(await chosenModels(config)),
    ...(await namedKeys(config)),
  };
  return (Object.keys(settings) as SettingName[]).map((key) => {
    const setting: Setting<unknown> = settings[key];
    const value = shown(setting, config[key]);
    return {
      name: setting.env,
      value,
      effective: value === null || value === '' ? automatic(setting, resolved[key]) : String(value),
      origin: config.origins[key],
      description: setting.description,
    };
  });
}

function shown(setting: Setting<unknown>, value: unknown): unknown {
  if (setting.secret === true) return value === null ? null : '(set)';
  if (setting.show !== undefined) return setting.show(value);
  return Array.isArray(value) ? value.join(',') : value;
}

function automatic({ unset = 'none' }: Setting<unknown>, resolved: string | undefined): string {
  return resolved ?? `(${unset})`;
}

async function chosenModels(config: Config): Promise<Partial<Record<SettingName, string>>> {
  try {
    const registry = localRegistry(config);
    const [chat, embedding] = [
      await describeDefault(registry, 'chat'),
      await describeDefault(registry, 'embedding'),
    ];
    return {
      ...(chat === null ? {} : { defaultModel: chat }),
      ...(embedding === null ? {} : { embeddingModel: embedding }),
    };
  } catch {
    // The verb must work with a broken configuration; `hearth list` reports problems of the store.
    return {};
  }
}

async function namedKeys({ home }: Config): Promise<{ readonly apiKey?: string }> {
  try {
    const { length } = await readKeys(home);
    return length === 0 ? {} : { apiKey: `(a named key is required; hearth key list shows ${length})` };
  } catch (error) {
    return { apiKey: `(${errorMessage(error)})` };
  }
}

async function describeDefault(registry: Registry, kind: ModelKind): Promise<string | null> {
  const id = await registry.defaultId(kind);
  if (id === null) return null;
  return (await registry.chosenDefault(kind)) === id ? `${id} (hearth default)` : `${id} (automatic)`;
}
