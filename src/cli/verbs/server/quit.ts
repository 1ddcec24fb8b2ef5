/** hearth quit: ends the service of this home once its running answers have finished. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { homeHolder, isServing } from '../../home-lock.ts';

const PAUSE_MS = 50;

export function registerQuit(program: Command, context: CliContext): void {
  program
    .command('quit')
    .description('end the service; running answers may finish within SVC_DRAIN_TIMEOUT')
    .option('--now', 'do not wait for running answers')
    .action(async ({ now }: { readonly now?: boolean }) => {
      const { home } = context.config();
      const holder = await homeHolder(home);
      if (holder === null)
        throw new CliFailure(`no service runs with the home folder ${home}`, EXIT_CODES.unreachable);
      const { pid, purpose } = holder;
      if (!isServing(purpose)) {
        throw new CliFailure(
          `the home folder ${home} is used by process ${pid}: ${printable(purpose)}; that is no service, so wait for it or end it`,
        );
      }
      end(pid, now === true);
      context.note(now === true ? 'The service is told to end now.' : 'Waiting for running answers …');
      while ((await homeHolder(home))?.pid === pid) await delay(PAUSE_MS);
      context.note('The service has ended.');
    });
}

/** A second signal ends a service at once. */
function end(pid: number, now: boolean): void {
  try {
    process.kill(pid, 'SIGTERM');
    if (now) process.kill(pid, 'SIGINT');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // It has ended in this moment.
    if (code === 'ESRCH') return;
    if (code !== 'EPERM') throw cause;
    throw new CliFailure(
      `the service, process ${pid}, belongs to another user; run this as that user, or stop its unit`,
      EXIT_CODES.failure,
      cause,
    );
  }
}
