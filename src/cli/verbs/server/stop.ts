/** hearth stop ID: unloads a model as soon as its running answers have finished. */
import type { Command } from 'commander';
import { Check } from '#typebox/value';
import { UnloadResponse } from '../../../wire/residency.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { type CliContext, printable } from '../../context.ts';

export function registerStop(program: Command, context: CliContext): void {
  program
    .command('stop <id>')
    .description('unload a model; the service keeps running')
    .action(async (id: string) => {
      const answer = expectOk(await callServer(context.config(), 'POST', routes.unload.path, { model: id }));
      const wasLoaded = Check(UnloadResponse, answer) && answer.unloaded;
      context.note(`${printable(id)} ${wasLoaded ? 'is unloaded' : 'was not loaded'}.`);
    });
}
