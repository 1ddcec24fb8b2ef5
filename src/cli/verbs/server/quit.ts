import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Config } from '../../../config/config.ts';
import { readPageToken } from '../../../store/keys/page-token.ts';
import { REQUEST_HEADERS } from '../../../wire/headers.ts';
import { routes } from '../../../wire/routes.ts';
import { postText } from '../../api.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { homeHolder, isServing, servedAddress } from '../../home-lock.ts';

const PAUSE_MS = 50;

export function registerQuit(program: Command, context: CliContext): void {
  program
    .command('quit')
    .description('end the service; running answers may finish within SVC_DRAIN_TIMEOUT')
    .option('--now', 'do not wait for running answers')
    .action(async ({ now }: { readonly now?: boolean }) => {
      const config = context.config();
      const { home } = config;
      const holder = await homeHolder(home);
      if (holder === null)
        throw new CliFailure(`no service runs with the home folder ${home}`, EXIT_CODES.unreachable);
      const { pid, purpose } = holder;
      if (!isServing(purpose)) {
        throw new CliFailure(
          `the home folder ${home} is used by process ${pid}: ${printable(purpose)}; that is no service, so wait for it or end it`,
        );
      }
      // A signal ends a Windows process at once, so only a request can let it finish its answers.
      if (process.platform === 'win32' && now !== true) await askToEnd(config, purpose);
      else end(pid, now === true);
      context.note(now === true ? 'Ending the service now.' : 'Waiting for running answers …');
      while ((await homeHolder(home))?.pid === pid) await delay(PAUSE_MS);
      context.note('The service has ended.');
    });
}

export async function askToEnd(config: Config, purpose: string): Promise<void> {
  const token = await readPageToken(config.home);
  const headers = token === null ? {} : { [REQUEST_HEADERS.pageToken]: token };
  const address = servedAddress(purpose) ?? {};
  await postText({ ...config, ...address }, { route: routes.quit.path, text: '{}', headers });
}

/** A second signal ends a service at once. */
function end(pid: number, now: boolean): void {
  try {
    process.kill(pid, 'SIGTERM');
    if (now) process.kill(pid, 'SIGINT');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ESRCH') return;
    if (code !== 'EPERM') throw cause;
    throw new CliFailure(
      `the service, process ${pid}, belongs to another user; run this as that user, or stop its unit`,
      EXIT_CODES.failure,
      cause,
    );
  }
}
