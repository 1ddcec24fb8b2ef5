/** hearth stop ID: unloads a model as soon as its running answers have finished. */
import type { Command } from 'commander';
import { Check } from '#typebox/value';
import type { Config } from '../../../config/config.ts';
import { UnloadResponse } from '../../../wire/residency.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { notInstalled } from '../../terminal/answer-source.ts';
import { type CliContext, printable } from '../../context.ts';

export function registerStop(program: Command, context: CliContext): void {
  program
    .command('stop <id>')
    .description('unload a model; the service keeps running')
    .action(async (id: string) => {
      const config = context.config();
      const answer = await unload(config, id);
      const wasLoaded = Check(UnloadResponse, answer) && answer.unloaded;
      context.note(`${printable(id)} ${wasLoaded ? 'is unloaded' : 'was not loaded'}.`);
    });
}

async function unload(config: Config, id: string): Promise<unknown> {
  const response = await callServer(config, 'POST', routes.unload.path, { model: id });
  if (response.status === 404) throw await notInstalled(config, id);
  return expectOk(response);
}
