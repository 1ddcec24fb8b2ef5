/**
 * cli/verbs/server owns the verbs that start the service or talk to a running one. It does not know how models are stored.
 * hearth serve: the service in the foreground, until a signal.
 */
import path from 'node:path';
import type { Command } from 'commander';
import { type RunningService, startApp } from '../../../app.ts';
import { formatDuration } from '../../../lib/base/duration.ts';
import { type Config, requireKeyForBind } from '../../../config/config.ts';
import type { SettingName } from '../../../config/settings.ts';
import { type OwnerLock, takeLock } from '../../../store/lock/owner-lock.ts';
import { registerBuiltins } from '../../builtin-models.ts';
import { CliFailure, type CliContext, EXIT_CODES } from '../../context.ts';
import { createLogger } from '../../log.ts';
import { describeHolder } from '../../port-holder.ts';
import { readVersion } from '../../version.ts';

type Logger = ReturnType<typeof createLogger>;

export function registerServe(program: Command, context: CliContext): void {
  program
    .command('serve')
    .alias('start')
    .description('serve in the foreground; Ctrl-C stops it once running answers have finished')
    .option('--host <address>', 'address to bind (SVC_HOST)')
    .option('--port <port>', 'port, 0 picks a free one (SVC_PORT)')
    .option('--log-level <level>', 'debug, info, warn, error or silent (SVC_LOG_LEVEL)')
    .action(async (flags: Partial<Record<SettingName, string>>) => {
      await serve(context, context.config(flags));
    });
}

async function serve(context: CliContext, config: Config): Promise<void> {
  requireKeyForBind(config);
  const logger = createLogger(config.logLevel);
  const running = await start(config, logger);
  const lock = await openService(config, running, logger);
  context.print(readyLine(running.url, config.apiKey !== null));
  await untilEnded(running, config, context);
  await lock.release();
  process.exit(EXIT_CODES.ok);
}

/** A failure between bind and the first answer ends the server, which would otherwise hold its port for nothing. */
async function openService(config: Config, running: RunningService, logger: Logger): Promise<OwnerLock> {
  let lock: OwnerLock | undefined;
  try {
    lock = await takeHome(config);
    await running.registry.recover();
    await registerBuiltins(config.home, running.registry, logger);
    running.open();
    return lock;
  } catch (error) {
    await running.close(0);
    await lock?.release();
    throw error;
  }
}

/** One server per home: two would each plan the same memory and write the same files. */
function takeHome(config: Config): Promise<OwnerLock> {
  const file = path.join(config.home, 'serve.lock');
  return takeLock(file, { purpose: 'hearth serve', what: 'This home folder', waitMs: 0 });
}

async function start(config: Config, logger: Logger): Promise<RunningService> {
  try {
    return await startApp({ config, version: readVersion(), logger, env: process.env });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CliFailure(await describeHolder(config), EXIT_CODES.failure, error);
  }
}

/** One line that a program can wait for and a person can use. */
function readyLine(url: string, needsKey: boolean): string {
  const key = needsKey ? ' -H "Authorization: Bearer $SVC_API_KEY"' : '';
  const body = '{"model":"default","messages":[{"role":"user","content":"Hello!"}]}';
  return `Hearth is ready at ${url} - try: curl ${url}/v1/chat/completions${key} -H "Content-Type: application/json" -d '${body}'`;
}

/** First signal: drain, bounded. Second signal: end at once. */
async function untilEnded(running: RunningService, config: Config, context: CliContext): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    let isEnding = false;
    // The listeners stay: libraries that clean up on exit raise the signal again if there is no other listener,
    // and that would look like a second one.
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => {
        if (isEnding && name !== 'SIGHUP') process.exit(EXIT_CODES.interrupted);
        isEnding = true;
        resolve(name);
      });
    }
  });
  const span =
    config.drainTimeoutMs === Infinity
      ? 'however long it takes'
      : `${formatDuration(config.drainTimeoutMs)} at most`;
  context.note(`${signal}: waiting for running answers, ${span}; send it again to stop now.`);
  await running.close(config.drainTimeoutMs);
}
