/**
 * cli/verbs/server owns the verbs that start the service or talk to a running one. It does not know how models are
 * stored. This file: hearth serve, the service in the foreground until a signal.
 */
import type { Command } from 'commander';
import { type RunningService, startApp } from '../../../server/app.ts';
import { compileEarly } from '../../../lib/base/compile-early.ts';
import { formatDuration } from '../../../lib/base/duration.ts';
import { type Config, requireKeyForBind, unknownVariables } from '../../../config/config.ts';
import { configFilePath } from '../../../config/config-file.ts';
import { followConfig, type LiveConfig } from '../../../config/live-config.ts';
import { type SettingName, settings } from '../../../config/settings.ts';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { isReadOnly } from '../../../lib/files/durable.ts';
import { hashOfKey, type KeyRecord, readKeys, secretHashes } from '../../../store/keys/key-file.ts';
import { keepPageToken } from '../../../store/keys/page-token.ts';
import { copyNamedFiles } from '../../../store/install/setting-texts.ts';
import type { OwnerLock } from '../../../store/lock/owner-lock.ts';
import { standApart } from '../../apart.ts';
import { openBuiltins, registerBuiltins } from '../../builtin-models.ts';
import { CliFailure, type CliContext, EXIT_CODES } from '../../context.ts';
import { servingAt, takeHome } from '../../home-lock.ts';
import { type Log, openLog } from '../../log/logger.ts';
import { describeHolder } from '../../port-holder.ts';
import { sizeWarnings } from '../../size-limits.ts';
import { ownAuthority, serviceUrl } from '../../transport.ts';
import { readVersion } from '../../version.ts';
import { endByHangUp, listenForSignals, type ServiceSignals } from './signals.ts';

type Logger = Log['logger'];
interface Start {
  readonly logger: Logger;
  readonly readOnly: boolean;
}
interface Wired extends Start {
  readonly quit: ServiceSignals['quit'];
}
type Flags = Partial<Record<SettingName, string>>;

export function registerServe(program: Command, context: CliContext): void {
  program
    .command('serve')
    .alias('start')
    .description('serve in the foreground; Ctrl-C stops it once running answers have finished')
    .option('--host <address>', 'address to bind (SVC_HOST)')
    .option('--port <port>', 'port, 0 picks a free one (SVC_PORT)')
    .option('--log-level <level>', 'debug, info, warn, error or silent (SVC_LOG_LEVEL)')
    .option('--sealed', 'open no connection, and let workers read nothing but models (SVC_SEALED)')
    .action(({ sealed, ...flags }: Omit<Flags, 'sealed'> & { readonly sealed?: boolean }) =>
      serve(context, { ...flags, ...(sealed === true ? { sealed: '1' } : {}) }),
    );
}

async function serve(context: CliContext, flags: Flags): Promise<void> {
  // With a flag or a variable, the seal was applied earlier.
  if (context.config(flags).sealed) await standApart();
  const signals = listenForSignals();
  const { config, reload } = followConfig(context.config(flags), () => context.config(flags));
  const named = await readKeys(config.home);
  requireKeyForBind(config, named.length > 0);
  refuseNamedKey(config, named);
  const readOnly = await isReadOnly(config.home);
  const log = openLog({ level: config.logLevel, home: config.logFiles && !readOnly ? config.home : null });
  const { logger } = log;
  for (const sentence of unknownVariables(context.env)) logger.warn(sentence);
  const running = await start(config, { logger, readOnly, quit: signals.quit });
  for (const sentence of await sizeWarnings(config)) logger.warn(sentence);
  const lock = await openService(config, running, { logger, readOnly });
  signals.onReload(() => {
    reloadConfig(reload, config, logger);
    renewCertificate(running, config, logger);
    logger.level = config.logLevel;
  });
  const key = config.apiKey !== null || named.length > 0 ? '$SVC_API_KEY' : null;
  context.print(readyLine({ ...config, port: running.port }, key));
  if (config.socket !== null) {
    logger.info(
      `It also listens on ${config.socket} - try: curl --unix-socket ${config.socket} http://localhost/v1/models`,
    );
  }
  // After the start, because code that runs once should not be compiled.
  compileEarly();
  const signal = await signals.end;
  await drain(signal, { running, config, logger });
  await lock?.release();
  await log.flushed();
  if (signal === 'SIGHUP') endByHangUp();
  else process.exit(EXIT_CODES.ok);
}

/** The service's own key may do everything, so a named key in its place would lose its limits. */
function refuseNamedKey({ apiKey }: Config, named: readonly KeyRecord[]): void {
  const key =
    apiKey === null ? undefined : named.find((record) => secretHashes(record).includes(hashOfKey(apiKey)));
  if (key === undefined) return;
  throw new CliFailure(
    `SVC_API_KEY is the named key ${key.name}, but here it sets the key that may do everything; start without it: env -u SVC_API_KEY hearth serve`,
    EXIT_CODES.usage,
  );
}

function renewCertificate(running: RunningService, { tlsCert }: Config, logger: Logger): void {
  if (tlsCert === null) return;
  try {
    running.renewTls();
    logger.info(`SIGHUP: ${tlsCert} was read again; new connections get it.`);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    logger.error(`SIGHUP: the certificate stays as it was. ${error.message}`);
  }
}

function reloadConfig(reload: LiveConfig['reload'], { home }: Config, logger: Logger): void {
  const file = configFilePath(home);
  try {
    const { changed, afterRestart } = reload();
    const named = (names: readonly SettingName[]) => names.map((name) => settings[name].env).join(', ');
    const changes = changed.length === 0 ? 'nothing changes now' : `changed: ${named(changed)}`;
    const rest = afterRestart.length === 0 ? '' : `; after a restart: ${named(afterRestart)}`;
    logger.info(`SIGHUP: ${file} was read again; ${changes}${rest}.`);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    logger.error(`SIGHUP: nothing changes. ${error.message}`);
  }
}

/** A failure between bind and the first answer ends the server, which would otherwise hold its port for nothing. */
async function openService(
  config: Config,
  running: RunningService,
  { logger, readOnly }: Start,
): Promise<OwnerLock | undefined> {
  let lock: OwnerLock | undefined;
  try {
    if (readOnly) {
      logger.warn(
        `The home folder ${config.home} is read-only: it is served as it is; nothing can be pulled, no measurement and no response is kept, and no other server is kept out.`,
      );
    } else {
      lock = await takeHome(config.home, servingAt({ host: config.host, port: running.port }));
      await offerPage(config.home, running, logger);
      await running.registry.recover();
      await copyNamedFiles(running.registry, (sentence) => logger.warn(sentence));
      await registerBuiltins(config.home, running.registry, logger);
    }
    running.open();
    return lock;
  } catch (error) {
    await running.close(0);
    await lock?.release();
    throw error;
  }
}

/** Without a writable token file, the page still works if the system reports the client's user. */
async function offerPage(home: string, { pageToken }: RunningService, logger: Logger): Promise<void> {
  try {
    await keepPageToken(home, pageToken);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    logger.warn(`hearth page has no token to show. ${error.message}`);
  }
}

async function start(config: Config, { logger, readOnly, quit }: Wired): Promise<RunningService> {
  try {
    return await startApp({
      config,
      version: readVersion(),
      logger,
      readOnly,
      env: process.env,
      builtins: openBuiltins(config.home),
      quit,
    });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      const byNpm = process.env['npm_lifecycle_event'] === 'start';
      const holder = await describeHolder(config, byNpm ? 'npm start -- --port 9000' : undefined);
      throw new CliFailure(holder, EXIT_CODES.failure, error);
    }
    if (syscall !== 'listen') throw error;
    const address = `${config.host}:${config.port}`;
    throw new CliFailure(
      `${address} cannot be listened on (${code}); choose another address with --host and --port.`,
      EXIT_CODES.failure,
      error,
    );
  }
}

/** One line that a program can wait for and a person can use. */
function readyLine(config: Config, secret: string | null): string {
  const url = serviceUrl(config);
  const certificate = ownAuthority(config);
  const trust = certificate === null ? '' : ` --cacert ${certificate}`;
  const key = secret === null ? '' : ` -H "Authorization: Bearer ${secret}"`;
  const body = '{"model":"default","messages":[{"role":"user","content":"Hello!"}]}';
  return `Hearth is ready at ${url} - try: curl${trust} ${url}/v1/chat/completions${key} -H "Content-Type: application/json" -d '${body}'`;
}

async function drain(
  signal: Awaited<ServiceSignals['end']>,
  { running, config, logger }: { running: RunningService; config: Config; logger: Logger },
): Promise<void> {
  const span =
    config.drainTimeoutMs === Infinity
      ? 'however long it takes'
      : `${formatDuration(config.drainTimeoutMs)} at most`;
  logger.info(`${signal}: waiting for running answers, ${span}; send it again to stop now.`);
  await running.close(config.drainTimeoutMs);
}
