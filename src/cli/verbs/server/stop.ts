import type { Command } from 'commander';
import { Check } from 'typebox/value';
import type { Config } from '../../../config/config.ts';
import { UnloadResponse } from '../../../wire/residency.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { notInstalled } from '../../terminal/answer-source.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';

const WITHOUT_MODEL = 'name the model to unload, as hearth ps lists it; to end the service, run: hearth quit';

export function registerStop(program: Command, context: CliContext): void {
  program
    .command('stop [id]')
    .description('unload a model; the service keeps running')
    .action(async (id: string | undefined) => {
      if (id === undefined) throw new CliFailure(WITHOUT_MODEL, EXIT_CODES.usage);
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
