/** hearth page: prints the page's address with the secret that proves its user runs the service. */
import type { Command } from 'commander';
import { readPageToken } from '../../../store/keys/page-token.ts';
import { PAGE_TOKEN_MARK } from '../../../wire/headers.ts';
import { routes } from '../../../wire/routes.ts';
import { baseUrl, callServer, expectOk } from '../../api.ts';
import { CliFailure, type CliContext } from '../../context.ts';

export function registerPage(program: Command, context: CliContext): void {
  program
    .command('page')
    .description(
      'print the address of the page, with the token that lets it change models; keep it to yourself',
    )
    .action(async () => {
      const config = context.config();
      expectOk(await callServer(config, 'GET', routes.health.path));
      const token = await readPageToken(config.home);
      if (token === null) {
        throw new CliFailure(
          `the home folder ${config.home} has no token; it is that of another service, or read-only`,
        );
      }
      context.print(`${baseUrl(config)}${routes.page.path.replace('*', '')}#${PAGE_TOKEN_MARK}${token}`);
    });
}
