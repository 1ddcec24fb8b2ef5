/** hearth engine add: starts a command once to find its models and options, and ends it again. */
import { startCommand } from '../../engine/command/start.ts';
import { fail, isFailure } from '../../../lib/errors/svc-error.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import type { Dialect } from '../../engine/upstream/ports.ts';
import { commandSource } from '../../../store/engines/sources.ts';
import type { CommandEntry, CommandModel } from '../../../store/engines/entry.ts';
import type { Environment } from '../../../store/engines/sources.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { type AddPorts, checkFree, knownModel } from './add-upstream.ts';
import { lastPart, ownName } from './own-name.ts';
import type { OwnProbe } from './own-probe.ts';

export interface AskedCommand extends Pick<CommandEntry, 'name' | 'command' | 'basePath' | 'startMs'> {
  readonly dialect: Dialect | null;
  /** Values of `{model}`, each with a process of its own; empty: the command names its model itself. */
  readonly models: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly memoryBytes: number | null;
  readonly maxCalls: number | null;
}

export interface AddCommandPorts extends Pick<AddPorts, 'engines'> {
  readonly registry: Pick<Registry, 'list' | 'served' | 'toTarget'>;
  readonly probe: OwnProbe;
  readonly env: Environment;
  /** Called before each start. `word` is the value of `{model}`, unless it is an installed model. */
  readonly onStart?: (word: string | null) => void;
}

export async function addCommand(
  ports: AddCommandPorts,
  asked: AskedCommand,
  signal: AbortSignal,
): Promise<CommandEntry> {
  await checkFree(ports, asked.name);
  checkWords(asked);
  const before = (await ports.engines.read()).entries.find(({ name }) => name === asked.name);
  const { dialect, models: words, memoryBytes, maxCalls, ...said } = asked;
  const draft = {
    schema: 1 as const,
    type: 'command' as const,
    ...said,
    env: { ...asked.env },
    dialect: dialect ?? ('openai' as const),
    ...(maxCalls === null ? {} : { maxCalls }),
    aliases: before?.type === 'command' ? before.aliases : {},
    addedAt: new Date(systemClock.unixMs()).toISOString(),
  };
  const models: CommandModel[] = [];
  let found = draft.dialect;
  for (const word of words.length === 0 ? [null] : words) {
    const tried = await tryOnce(ports, { draft, word, dialect }, signal);
    found = tried.dialect;
    models.push({ ...tried.model, memoryBytes: memoryBytes ?? tried.model.memoryBytes });
  }
  const entry: CommandEntry = { ...draft, dialect: found, models };
  await ports.engines.put(entry);
  return entry;
}

interface Trial {
  readonly draft: Omit<CommandEntry, 'models'>;
  readonly word: string | null;
  readonly dialect: Dialect | null;
}

async function tryOnce(
  { registry, probe, env, onStart }: AddCommandPorts,
  { draft, word, dialect }: Trial,
  signal: AbortSignal,
) {
  const meant = word === null ? null : await meaning(registry, word);
  const source = { ...commandSource(draft), model: null, modelWord: meant?.path ?? null, memoryBytes: 0 };
  const deps = { clock: systemClock, probe, hostEnv: env };
  onStart?.(meant === null || meant.isInstalled ? null : meant.path);
  const started = await startCommand(deps, draft.name, source, signal);
  try {
    const { upstream } = started;
    const speaks = dialect ?? (await probe.detect(upstream, signal));
    const listed = await probe.models({ ...upstream, dialect: speaks }, signal);
    const known = listed.find(({ name }) => name === started.model.name) ?? started.model;
    const model = {
      id: meant?.id ?? ownName(known.name),
      known: knownModel(known),
      ...(meant === null ? {} : { model: meant.path }),
      memoryBytes: started.memoryBytes ?? 0,
    };
    return { dialect: speaks, model };
  } finally {
    await started.child.end();
  }
}

async function meaning(registry: AddCommandPorts['registry'], word: string) {
  try {
    const model = await registry.served(word);
    return { id: model.id, path: registry.toTarget(model).source.path, isInstalled: true };
  } catch (error) {
    if (isFailure(error, 'model_not_found')) return { id: lastPart(word), path: word, isInstalled: false };
    throw error;
  }
}

function checkWords({ command, models }: AskedCommand): void {
  const has = (place: string): boolean => command.some((word) => word.includes(place));
  const refuse = (message: string): Error => fail('invalid_request', { param: 'command', message });
  if (!has('{port}'))
    throw refuse('The command must hold {port}, where the port that it listens on is filled in.');
  if (models.length > 0 && !has('{model}'))
    throw refuse('The command must hold {model}, where --model is filled in.');
  if (models.length === 0 && has('{model}'))
    throw refuse('The command holds {model}; say with --model what it stands for.');
}
