import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { readable } from '../../../lib/base/byte-size.ts';
import { isOfModel } from '../../../lib/prompt-cache/kind.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { type CachedFile, cachedKinds, cacheFolder } from '../../../lib/files/cache-folder.ts';
import { knownDigest, modelFiles } from '../../../store/files/manifest.ts';
import type { InstalledModel } from '../../../store/registry/registry.ts';
import { readPins } from '../../../store/files/pin-file.ts';
import type { CachePin, CacheReport } from '../../../wire/prompt-cache.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { notInstalled } from '../../terminal/answer-source.ts';
import { type CliContext, printable, table } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';
import { agoTime } from '../../words/relative-time.ts';

export function registerCache(program: Command, context: CliContext): void {
  const cache = program
    .command('cache')
    .description('show what the prompt cache keeps on the disk, and why a prompt was evaluated');
  cache
    .command('list', { isDefault: true })
    .description('show how much prompt state is on the disk, and when it was last used')
    .option('--json', 'one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const config = context.config();
      const models = await localRegistry(config).list();
      const kinds = await cachedKinds(cacheFolder(config.home));
      const held = kinds.filter(({ files }) => files.length > 0);
      const entries = held.map(({ name, files }) => kindEntry(name, files, models));
      if (flags.json === true) {
        context.printJson(entries);
      } else if (entries.length === 0) {
        context.note('There is no prompt state on the disk.');
      } else {
        context.print(
          table([['MODEL', 'SIZE', 'FILES', 'PINNED', 'LAST USED'], ...byModel(entries).map(row)]),
        );
      }
    });
  cache
    .command('clear')
    .description('remove all prompt state from the disk; a running service goes on without it')
    .action(async () => {
      const kinds = await cachedKinds(cacheFolder(context.config().home));
      for (const { path } of kinds) await rm(path, { recursive: true, force: true });
      const bytes = kinds.flatMap(({ files }) => files).reduce((sum, file) => sum + file.bytes, 0);
      context.note(`${readable(bytes)} of prompt state removed from the disk.`);
    });
  cache
    .command('why')
    .description('say why the prompt of a request was evaluated and not reused')
    .argument('<request>', 'the number of a chat in hearth requests, its X-Request-Id, or last')
    .option('--json', 'one JSON document')
    .action(async (id: string, flags: { json?: boolean }) => {
      const path = routes.cacheReport.path.replace(':id', encodeURIComponent(id));
      const report = expectOk(await callServer(context.config(), 'GET', path)) as CacheReport;
      if (flags.json === true) context.printJson(report);
      else context.print(describe(report));
    });
  registerPins(cache, context);
}

function registerPins(cache: Command, context: CliContext): void {
  cache
    .command('pin')
    .description('keep the system prompt and tools of your latest chat with a model in the cache')
    .argument('<model>', 'a loaded model; send the chat first')
    .action(async (model: string) => {
      const config = context.config();
      const response = await callServer(config, 'POST', routes.pinCache.path, { model });
      if (response.status === 404) throw await notInstalled(config, model);
      const pin = expectOk(response) as CachePin;
      context.note(
        `${pin.tokens} tokens of ${printable(pin.model)} are pinned as ${pin.id} (${readable(pin.bytes)}).`,
      );
    });
  cache
    .command('unpin')
    .description('unpin a prompt, so that it can be evicted again')
    .argument('<pin>', 'its id, as hearth cache pins shows it')
    .action(async (id: string) => {
      const path = routes.unpinCache.path;
      const pin = expectOk(await callServer(context.config(), 'POST', path, { id })) as CachePin;
      context.note(`${pin.id} of ${printable(pin.model)} is not pinned any more.`);
    });
  cache
    .command('pins')
    .description('list the pinned prompts')
    .option('--json', 'one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const pins = (await readPins(context.config().home)).map(({ id, model, prefix, bytes, createdAt }) => ({
        id,
        model,
        tokens: prefix.tokens,
        bytes,
        created: createdAt,
      }));
      if (flags.json === true) return context.printJson(pins);
      if (pins.length === 0) return context.note('No prompt is pinned.');
      const rows = pins.map((pin) => [
        pin.id,
        printable(pin.model),
        String(pin.tokens),
        readable(pin.bytes),
        agoTime(Date.parse(pin.created), systemClock.unixMs()),
      ]);
      context.print(table([['PIN', 'MODEL', 'TOKENS', 'SIZE', 'PINNED'], ...rows]));
    });
}

interface KindEntry {
  readonly model: string | null;
  readonly state: string;
  readonly bytes: number;
  readonly files: number;
  readonly pinned_bytes: number;
  readonly last_used: string;
}

function kindEntry(name: string, files: readonly CachedFile[], models: readonly InstalledModel[]): KindEntry {
  const usedMs = Math.max(...files.map(({ lastUsedMs }) => lastUsedMs));
  const owner = models.find((model) => {
    const [first] = modelFiles(model);
    const digest = first === undefined ? null : knownDigest(first);
    return digest !== null && isOfModel(name, digest);
  });
  return {
    model: owner?.id ?? null,
    state: name,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    files: files.length,
    pinned_bytes: files.reduce((sum, file) => sum + (file.isPinned ? file.bytes : 0), 0),
    last_used: new Date(usedMs).toISOString(),
  };
}

/** Merges the state of different loads of a model, which users see as one. */
function byModel(entries: readonly KindEntry[]): KindEntry[] {
  const models = new Map<string | null, KindEntry>();
  for (const entry of entries) {
    const { model, last_used: used } = entry;
    const known = models.get(model);
    models.set(model, {
      ...entry,
      bytes: entry.bytes + (known?.bytes ?? 0),
      files: entry.files + (known?.files ?? 0),
      pinned_bytes: entry.pinned_bytes + (known?.pinned_bytes ?? 0),
      last_used: known === undefined || used > known.last_used ? used : known.last_used,
    });
  }
  return [...models.values()];
}

function row({ model, bytes, files, pinned_bytes, last_used }: KindEntry): string[] {
  return [
    model === null ? '(not installed)' : printable(model),
    readable(bytes),
    String(files),
    pinned_bytes === 0 ? '-' : readable(pinned_bytes),
    agoTime(Date.parse(last_used), systemClock.unixMs()),
  ];
}

function describe(report: CacheReport): string {
  const { prompt_tokens, cached_tokens, evaluated_tokens, from, restore_ms, difference, advice } = report;
  const origins = Object.entries(from).filter(([, tokens]) => tokens > 0);
  const places = origins.map(([origin, tokens]) => `${tokens} from ${ORIGINS[origin] ?? origin}`).join(', ');
  const restored = restore_ms > 0 ? `, restored in ${restore_ms} ms` : '';
  return [
    `${prompt_tokens} prompt tokens, ${cached_tokens} reused${places === '' ? '' : ` (${places}${restored})`}, ${evaluated_tokens} evaluated.`,
    '',
    `${printable(report.explanation)} [${report.reason}]`,
    ...(advice === null ? [] : [advice]),
    ...(difference === null ? [] : ['', ...sides(difference)]),
  ].join('\n');
}

const ORIGINS: Readonly<Record<string, string>> = { slot: 'a slot', ram: 'memory', disk: 'disk' };

function sides({ token, shared, before, now }: NonNullable<CacheReport['difference']>): string[] {
  return [
    `The first token that differs is number ${token}, after:`,
    `  ${quoted(shared)}`,
    `before: ${quoted(before)}`,
    `now:    ${quoted(now)}`,
  ];
}

const quoted = (text: string): string => printable(JSON.stringify(text));
