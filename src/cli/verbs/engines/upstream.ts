/**
 * cli/verbs/engines owns the verbs for engines beyond the built-in one. They change files of the home folder, which a
 * running server reads with its next request; they do not know whether one runs. This file: hearth upstream.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { addUpstream, provedModels } from '../../../server/api/remote-models/add-upstream.ts';
import { ownName } from '../../../server/api/remote-models/own-name.ts';
import { withProbe } from '../../../server/api/remote-models/own-probe.ts';
import { isFailure, type SvcError } from '../../../lib/errors/svc-error.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import { DIALECT_NAMES, PRIVACY_NAMES, type UpstreamEntry } from '../../../store/engines/entry.ts';
import { openUpstream } from '../../../store/engines/sources.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable, table } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';
import { readVersion } from '../../version.ts';
import { count, duration, engineStore, named, readChoice, optional } from './flags.ts';

interface AddFlags {
  readonly dialect?: string;
  readonly keyEnv?: string;
  readonly keyFile?: string;
  readonly ca?: string;
  readonly publicKey?: string;
  readonly models?: string;
  readonly privacy?: string;
  readonly firstByteTimeout?: string;
  readonly stallTimeout?: string;
  readonly timeout?: string;
  readonly maxCalls?: string;
}

export function registerUpstream(program: Command, context: CliContext): void {
  const upstream = program.command('upstream').description('serve the models of another machine or program');
  upstream
    .command('add <name> <url>')
    .description('serve its models as NAME/model; run it again to change settings')
    .option('--dialect <dialect>', `auto, ${DIALECT_NAMES.join(', ')}`, 'auto')
    .option('--key-env <variable>', 'variable in the environment of hearth serve that holds its key')
    .option('--key-file <file>', 'file that holds its key, readable by you alone')
    .option('--ca <file>', 'PEM file of the authority that issued its certificate')
    .option(
      '--public-key <file>',
      'public key of that Hearth (hearth evidence pubkey there); no other is accepted',
    )
    .option('--models <pattern>', 'serve only models whose names match, with * for any characters')
    .option('--privacy <privacy>', `who can read what is sent there: ${PRIVACY_NAMES.join(', ')}`)
    .option('--first-byte-timeout <duration>', 'longest wait for the first words of an answer (default: 5m)')
    .option('--stall-timeout <duration>', 'longest wait between two pieces of an answer (default: 60s)')
    .option('--timeout <duration>', 'longest time for a whole answer (default: 1h)')
    .option('--max-calls <n>', 'most requests to send it at once (default: 256)')
    .action((name: string, url: string, flags: AddFlags) => add(context, name, url, flags));
  upstream
    .command('list')
    .alias('ls')
    .description('list the upstreams')
    .option('--json', 'one JSON array')
    .action((flags: { json?: boolean }) => list(context, flags.json === true));
  upstream
    .command('show <name>')
    .description('show the settings and models of an upstream as JSON')
    .action(async (name: string) => context.printJson(await find(context, name)));
  upstream
    .command('rm <name>')
    .description('remove an upstream; its models are no longer served')
    .action(async (name: string) => {
      await engineStore(context).remove(name, 'upstream');
      context.note(printable(`Upstream ${name} is removed.`));
    });
  upstream
    .command('test <name>')
    .description('check that an upstream answers, and list its models; generates nothing')
    .option('--json', 'one JSON document')
    .action((name: string, flags: { json?: boolean }) => test(context, name, flags.json === true));
}

async function add(context: CliContext, name: string, url: string, flags: AddFlags): Promise<void> {
  const registry = localRegistry(context.config());
  const added = withProbe(readVersion(), async (probe) =>
    addUpstream(
      { registry, engines: new EngineStore(registry.store), probe, env: context.env },
      {
        name,
        url,
        dialect:
          readChoice('--dialect', flags.dialect === 'auto' ? undefined : flags.dialect, DIALECT_NAMES) ??
          null,
        privacy: readChoice('--privacy', flags.privacy, PRIVACY_NAMES) ?? null,
        ...optional('keyEnv', flags.keyEnv),
        ...optional('keyFile', absolute(flags.keyFile)),
        ...optional('caFile', await readAuthority(flags.ca)),
        ...optional('publicKey', await readOptionalFile(flags.publicKey)),
        ...optional('models', flags.models),
        deadlines: {
          ...optional('firstByteMs', duration('--first-byte-timeout', flags.firstByteTimeout)),
          ...optional('stallMs', duration('--stall-timeout', flags.stallTimeout)),
          ...optional('wholeMs', duration('--timeout', flags.timeout)),
        },
        ...optional('maxCalls', count('--max-calls', flags.maxCalls)),
      },
    ),
  );
  const { entry, silent, offered } = await added.catch((error: unknown) => {
    throw isFailure(error, 'upstream_unreachable') ? notThere(url, error) : error;
  });
  if (silent !== null) context.note(printable(`${silent.message} Its models are served once it answers.`));
  for (const { name: model } of entry.known) context.print(printable(`${entry.name}/${ownName(model)}`));
  if (offered > 0 && entry.known.length === 0)
    context.note(printable(`None of its ${offered} models matches --models ${entry.models ?? ''}.`));
  const many = entry.known.length === 1 ? 'one model' : `${entry.known.length} models`;
  context.note(
    printable(`Upstream ${entry.name} speaks ${entry.dialect} (${entry.privacy}) and has ${many}.`),
  );
  if (entry.baseUrl.startsWith('http:') && entry.privacy !== 'local' && (entry.keyEnv ?? entry.keyFile))
    context.note('Its key travels without encryption; use an https:// URL where others share the network.');
}

function notThere(url: string, error: SvcError<'upstream_unreachable'>): CliFailure {
  const { reason } = error.detail;
  return new CliFailure(
    printable(
      `${url} cannot be reached (${reason}), so nothing was added; start it first, or say with --dialect what it speaks`,
    ),
    EXIT_CODES.failure,
    error,
  );
}

async function list(context: CliContext, json: boolean): Promise<void> {
  const { entries, damaged } = await engineStore(context).read();
  const upstreams = entries.filter((entry) => entry.type === 'upstream');
  if (json) return context.printJson(upstreams);
  for (const { name, reason } of damaged) context.note(printable(`${name} is damaged: ${reason}`));
  if (upstreams.length === 0)
    return context.note('There are no upstreams; add one with: hearth upstream add NAME URL');
  const rows = upstreams.map((entry) => [
    entry.name,
    entry.baseUrl,
    entry.dialect,
    entry.privacy,
    String(entry.known.length),
  ]);
  context.print(table([['NAME', 'URL', 'DIALECT', 'PRIVACY', 'MODELS'], ...rows]));
}

async function test(context: CliContext, name: string, json: boolean): Promise<void> {
  const upstream = openUpstream(await find(context, name), context.env);
  const { signal } = new AbortController();
  const { look, models } = await withProbe(readVersion(), async (probe) => ({
    look: await probe.look(upstream, signal),
    models: await provedModels(probe, upstream, signal).catch((error: unknown) => error as Error),
  }));
  if (json) {
    const listed = models instanceof Error ? { failure: models.message } : { models };
    context.printJson({ name, ...look, ...listed });
  } else {
    context.print(`${name} is ${look.state}`);
    if (look.state !== 'down') context.print(figures(look.load));
    const failures = [
      ...(look.state === 'down' ? [look.reason] : []),
      ...(models instanceof Error ? [models.message] : []),
    ];
    for (const failure of new Set(failures)) context.note(printable(failure));
    for (const model of models instanceof Error ? [] : models)
      context.print(printable(`${model.kind.padEnd(10)}${name}/${ownName(model.name)}`));
  }
  if (look.state === 'down' || models instanceof Error) context.setExitCode(EXIT_CODES.failure);
}

function figures(load: object): string {
  const known = Object.entries(load).flatMap(([figure, value]) =>
    value === null ? [] : [`${figure} ${value}`],
  );
  return known.length === 0 ? 'it tells nothing of its load' : known.join(', ');
}

async function find(context: CliContext, name: string): Promise<UpstreamEntry> {
  const entry = await engineStore(context).find(name);
  if (entry.type === 'upstream') return entry;
  throw new CliFailure(`${name} is ${named(entry.type)}, not an upstream`, EXIT_CODES.notFound);
}

async function readAuthority(file: string | undefined): Promise<string | undefined> {
  const text = await readOptionalFile(file);
  if (file === undefined || text === undefined) return undefined;
  if (certificateIn(text) === null)
    throw new CliFailure(printable(`${file} holds no certificate in PEM`), EXIT_CODES.failure);
  return path.resolve(file);
}

function certificateIn(text: string): X509Certificate | null {
  try {
    return new X509Certificate(text);
  } catch {
    return null;
  }
}

const absolute = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : path.resolve(file);

async function readOptionalFile(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new CliFailure(`${file} cannot be read`, EXIT_CODES.failure, cause);
  }
}
