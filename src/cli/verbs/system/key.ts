import type { Command } from 'commander';
import { parseDuration } from '../../../lib/base/duration.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import {
  addKey,
  changeKey,
  type KeyChange,
  type KeyRecord,
  MOST_REQUESTS,
  readKeys,
  removeKey,
  rotateKey,
} from '../../../store/keys/key-file.ts';
import { type KeyUsage, readUsage } from '../../../store/keys/usage-file.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable, table } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';
import { inTime } from '../../words/relative-time.ts';

interface AddFlags {
  readonly admin?: boolean;
  readonly model?: readonly string[];
  readonly requests?: string;
  readonly tokensPerDay?: string;
  readonly localOnly?: boolean;
  readonly expires?: string;
}

/** False: the limit is taken away. */
type SetFlags = { readonly [Flag in keyof AddFlags]: AddFlags[Flag] | false };

const SHOWN_ONCE = 'This is the only time that the key is shown; a service that runs knows it already.';
const HEAD = ['NAME', 'RIGHTS', 'MODELS', 'REQUESTS', 'TOKENS TODAY', 'EXPIRES'];

export function registerKey(program: Command, context: CliContext): void {
  const key = program
    .command('key')
    .description('manage named API keys: who may use what, and how much of it');
  key
    .command('add <name>')
    .description('make a key and print it once; as soon as there is a key, every request needs one')
    .option('--admin', 'may change models and settings over HTTP')
    .option('--model <id...>', 'only these models')
    .option('--requests <count>', 'most requests at once')
    .option('--tokens-per-day <count>', 'most tokens a day (UTC), prompts included')
    .option('--local-only', 'only models that run on this machine')
    .option('--expires <duration>', 'valid for this long, such as 30d')
    .action((name: string, flags: AddFlags) => add(context, name, flags));
  key
    .command('set <name>')
    .description('change what a key may do from its next request on; the key and its use of today stay')
    .option('--admin', 'may change models and settings over HTTP')
    .option('--no-admin', 'may not')
    .option('--model <id...>', 'only these models')
    .option('--no-model', 'all models')
    .option('--requests <count>', 'most requests at once')
    .option('--no-requests', 'any number')
    .option('--tokens-per-day <count>', 'most tokens a day (UTC), prompts included')
    .option('--no-tokens-per-day', 'any number')
    .option('--local-only', 'only models that run on this machine')
    .option('--no-local-only', 'models of upstreams too')
    .option('--expires <duration>', 'valid for this long from now, such as 30d')
    .option('--no-expires', 'valid until it is revoked')
    .action((name: string, flags: SetFlags) => set(context, name, flags));
  key
    .command('rotate <name>')
    .description('give a key another secret and print it once; its limits, its use and its data stay')
    .option(
      '--overlap <duration>',
      'the old secret stays valid for this long, such as 1h; otherwise it ends at once',
    )
    .action((name: string, flags: { overlap?: string }) => rotate(context, name, flags.overlap));
  key
    .command('list')
    .alias('ls')
    .description('list the keys with what each may do and has used today; the keys themselves are not shown')
    .option('--json', 'one JSON array')
    .action((flags: { json?: boolean }) => list(context, flags.json === true));
  key
    .command('rm <name>')
    .description('revoke a key; it is refused at once')
    .action(async (name: string) => {
      const { home, apiKey } = context.config();
      await removeKey(home, name);
      context.note(printable(`The key ${name} is revoked.`));
      if (apiKey !== null || (await readKeys(home)).length > 0) return;
      context.note('No keys are left: on loopback, requests need none; at another address, all are refused.');
    });
}

async function add(context: CliContext, name: string, flags: AddFlags): Promise<void> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/.test(name))
    throw usage('a name has 1 to 40 letters, digits, ".", "_" and "-", and begins with a letter or digit');
  const config = context.config();
  const now = systemClock.unixMs();
  const isFirst = config.apiKey === null && (await readKeys(config.home)).length === 0;
  const { key } = await addKey(config.home, { name, ...(await readRights(context, flags, now)) }, now);
  context.print(key);
  context.note(SHOWN_ONCE);
  if (!isFirst) return;
  context.note(
    'From now on, requests without a key are refused, also from programs on this machine. For the commands of hearth itself, set SVC_API_KEY to a key.',
  );
}

async function rotate(context: CliContext, name: string, overlap = '0'): Promise<void> {
  const { home } = context.config();
  const nowMs = systemClock.unixMs();
  const overlapMs = readSpan('--overlap', overlap);
  const { key, record } = await rotateKey(home, name, { overlapMs, nowMs });
  context.print(key);
  context.note(SHOWN_ONCE);
  const old = overlapMs === 0 ? 'is refused from now on' : `ends ${inTime(nowMs + overlapMs, nowMs)}`;
  context.note(`The old secret ${old}.`);
  const { expiresAt } = record;
  if (expiresAt === undefined) return;
  const isOver = Date.parse(expiresAt) <= nowMs;
  const end = isOver ? 'has expired' : `still expires ${inTime(Date.parse(expiresAt), nowMs)}`;
  context.note(`The key ${end}; to change that: hearth key set ${name} --expires 30d`);
}

async function set(context: CliContext, name: string, flags: SetFlags): Promise<void> {
  if (Object.keys(flags).length === 0)
    throw usage(`name what to change, for example: hearth key set ${name} --tokens-per-day 500000`);
  const { home } = context.config();
  const now = systemClock.unixMs();
  const record = await changeKey(home, name, await readRights(context, flags, now));
  const used = usedOn(await readUsage(home), now);
  context.print(table([HEAD, keyRow(record, used(name), now)]));
  context.note('A service that runs knows it already.');
}

/** The rights that are named; undefined: that limit is taken away. */
async function readRights(context: CliContext, flags: SetFlags, nowMs: number): Promise<KeyChange> {
  const { admin, localOnly, model, requests, tokensPerDay, expires } = flags;
  const named = <Value, Right>(flag: Value | false | undefined, read: (value: Value) => Right) =>
    flag === undefined ? null : { right: flag === false ? undefined : read(flag) };
  const registry = localRegistry(context.config());
  const ids = named(model, (names) => Promise.all(names.map(async (name) => (await registry.find(name)).id)));
  const most = named(requests, (text) => count('--requests', text, MOST_REQUESTS));
  const daily = named(tokensPerDay, (text) => count('--tokens-per-day', text));
  const end = named(expires, (text) => momentAfter(text, nowMs));
  return {
    ...(admin === undefined ? {} : { admin }),
    ...(localOnly === undefined ? {} : { localOnly }),
    ...(ids && { models: await ids.right }),
    ...(most && { maxRequests: most.right }),
    ...(daily && { tokensPerDay: daily.right }),
    ...(end && { expiresAt: end.right }),
  };
}

async function list(context: CliContext, asJson: boolean): Promise<void> {
  const { home } = context.config();
  const keys = await readKeys(home);
  const now = systemClock.unixMs();
  const used = usedOn(await readUsage(home), now);
  if (asJson) {
    return context.printJson(
      keys.map(({ sha256: _secret, firstSha256: _first, replaced = [], ...record }) => ({
        ...record,
        ...(replaced[0] && { oldSecretUntil: replaced[0].until }),
        tokensToday: used(record.name),
      })),
    );
  }
  if (keys.length === 0) return context.note('There are no named keys; make one with: hearth key add NAME');
  context.print(table([HEAD, ...keys.map((record) => keyRow(record, used(record.name), now))]));
}

/** Today's tokens by the name of the key. */
function usedOn(usage: KeyUsage | null, nowMs: number): (name: string) => number {
  const isToday = usage?.day === new Date(nowMs).toISOString().slice(0, 10);
  return (name) => (isToday ? (usage?.tokens[name] ?? 0) : 0);
}

function keyRow(record: KeyRecord, used: number, nowMs: number): string[] {
  const { name, admin, localOnly, models, maxRequests, tokensPerDay, expiresAt } = record;
  const expires = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
  return [
    name,
    [admin ? 'admin' : 'use', ...(localOnly ? ['local only'] : [])].join(', '),
    models === undefined ? 'all' : models.join(', '),
    maxRequests === undefined ? 'any number' : `${maxRequests} at a time`,
    tokensPerDay === undefined ? String(used) : `${used} of ${tokensPerDay}`,
    expires === Number.POSITIVE_INFINITY ? 'never' : expires <= nowMs ? 'expired' : inTime(expires, nowMs),
  ];
}

function count(flag: string, text: string, most = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (value === 0 || value > most) throw usage(`${flag} must be a whole number from 1 to ${most}`);
  return value;
}

function momentAfter(text: string, nowMs: number): string {
  const spanMs = readSpan('--expires', text);
  if (spanMs === 0) throw usage('--expires must be longer than 0');
  return new Date(nowMs + spanMs).toISOString();
}

function readSpan(flag: string, text: string): number {
  const spanMs = parseDuration(text);
  // Node's dates end in the year 275760.
  if (spanMs === undefined || spanMs < 0 || spanMs > 3.2e12)
    throw usage(`${flag} must be a duration such as 30d or 12h`);
  return spanMs;
}

const usage = (message: string): CliFailure => new CliFailure(message, EXIT_CODES.usage);
