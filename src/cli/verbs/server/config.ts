/** hearth config: every setting, its value and where it came from. */
import type { Command } from 'commander';
import type { Config } from '../../../config/config.ts';
import { type Setting, type SettingName, settings } from '../../../config/settings.ts';
import { type CliContext, table } from '../../context.ts';

export function registerConfig(program: Command, context: CliContext): void {
  program
    .command('config')
    .description('show every setting with its value and origin')
    .option('--json', 'one JSON document')
    .action((flags: { json?: boolean }) => {
      const rows = settingRows(context.config());
      if (flags.json === true) return context.printJson(rows);
      context.print(
        table([
          ['SETTING', 'VALUE', 'ORIGIN'],
          ...rows.map((row) => [row.name, String(row.value), row.origin]),
        ]),
      );
    });
}

function settingRows(config: Config) {
  return (Object.keys(settings) as SettingName[]).map((key) => {
    const setting: Setting<unknown> = settings[key];
    const value: unknown = config[key];
    return {
      name: setting.env,
      value: setting.secret === true ? (value === null ? null : '(set)') : readable(setting, value),
      origin: config.origins[key],
      description: setting.description,
    };
  });
}

function readable(setting: Setting<unknown>, value: unknown): unknown {
  if (setting.show !== undefined) return setting.show(value);
  return Array.isArray(value) ? value.join(',') : value;
}
