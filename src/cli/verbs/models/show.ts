import type { Command } from 'commander';
import type { LastCard } from '../../../server/api/eval/card.ts';
import { findSeen, type SeenModel } from '../../../server/api/remote-models/name-models.ts';
import type { ModelFormatFacts } from '../../../contract/job-event.ts';
import { EMBEDDING_WIDTH } from '../../../contract/limits.ts';
import { shortText } from '../../../contract/settings/shapes.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import { unnamedLimit } from '../../../store/files/manifest.ts';
import { describeModel, type ModelDescription } from '../../../store/registry/describe.ts';
import { isLoadSetting, paramsByName } from '../../../store/registry/param-names.ts';
import type { InstalledModel, Registry } from '../../../store/registry/registry.ts';
import { readable } from '../../../lib/base/byte-size.ts';
import { isSvcError, errorReason } from '../../../lib/errors/svc-error.ts';
import { builtinLimits } from '../../../store/files/builtin-facts.ts';
import { type CliContext, printable } from '../../context.ts';
import { formatHere, localRegistry } from '../../local-registry.ts';
import { cardWords } from '../../words/card-words.ts';
import { ENVELOPE, formatLines } from '../../words/format-lines.ts';

type Line = readonly [name: string, value: string];

const NAME_WIDTH = 18;

export function registerShow(program: Command, context: CliContext): void {
  program
    .command('show <id>')
    .description('show what a model is, what it needs and where it came from')
    .option('--passport', 'where it comes from, who signed it, what was measured, and with what')
    .option('--json', 'one JSON document')
    .action(async (id: string, flags: { json?: boolean; passport?: boolean }) => {
      const config = context.config();
      const registry = localRegistry(config);
      const remote = (await registry.has(id)) ? null : await findSeen(new EngineStore(registry.store), id);
      if (remote !== null) return showRemote(context, remote, flags.json === true);
      const model = await registry.find(id);
      if (flags.passport === true) return showPassport(context, registry, model, flags.json === true);
      const shown = await describeModel(registry, model, config.numCtx);
      const format = shown.kind === 'chat' ? await askModelFormat(context, registry, model) : null;
      const limits = builtinLimits(shown.files[0]?.sha256) ?? null;
      const card = await quotedCard(config.home, model);
      if (flags.json === true) return context.printJson({ ...shown, limits, ...format?.json, eval: card });
      const limit = shown.kind === 'chat' ? limitWords(model, format?.json.format ?? null) : null;
      context.print(inLines(facts({ shown, limits, limit, format: format?.lines ?? [], card })));
    });
}

async function showPassport(
  context: CliContext,
  registry: Registry,
  model: InstalledModel,
  json: boolean,
): Promise<void> {
  const { home, signers } = context.config();
  // Loaded on demand: they bring the verifier of records.
  const { makePassport } = await import('../../../server/api/passport/passport.ts');
  const { passportLines } = await import('../../../server/api/passport/passport-lines.ts');
  const { showSignatures } = await import('../../../server/api/passport/show-signatures.ts');
  const passport = await makePassport(model, {
    home,
    registry,
    signed: (each) => showSignatures(each, { home, signers }),
    format: model.kind === 'chat' ? (await askModelFormat(context, registry, model)).json.format : null,
  });
  if (json) return context.printJson(passport);
  context.print(inLines(passportLines(passport)));
}

const inLines = (lines: readonly Line[]): string =>
  lines.map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${printable(value)}`).join('\n');

async function quotedCard(home: string, model: InstalledModel): Promise<LastCard | null> {
  if (model.kind !== 'chat') return null;
  // Loaded on demand: it loads the verifier of records.
  return (await import('../../../server/api/eval/card.ts')).lastCard(home, model);
}

function showRemote(context: CliContext, model: SeenModel, json: boolean): void {
  if (json) return context.printJson(model);
  const lines: Line[] = [
    ['id', model.id],
    ['aliases', model.aliases.join(', ') || 'none'],
    ['kind', model.kind],
    ['runs', RUNS[model.engine](model)],
    ['window', model.contextLength === null ? 'not told' : `${model.contextLength} tokens`],
    ['privacy', model.privacy === null ? 'no limit' : `no farther than ${model.privacy}`],
    ['added', model.addedAt],
  ];
  context.print(inLines(lines));
}

const RUNS: Readonly<Record<SeenModel['engine'], (model: SeenModel) => string>> = {
  upstream: ({ owner }) => `at upstream ${owner}; more: hearth upstream show ${owner}`,
  command: ({ owner }) => `by command ${owner}; more: hearth engine show ${owner}`,
  pool: ({ id }) => `at one of its members; more: hearth pool show ${id}`,
};

interface ShownFormat {
  readonly json: {
    readonly tools: string | null;
    readonly format: ModelFormatFacts | null;
    readonly formatUnknown?: string;
  };
  readonly lines: readonly Line[];
}

async function askModelFormat(
  context: CliContext,
  registry: Registry,
  model: InstalledModel,
): Promise<ShownFormat> {
  try {
    const facts = await formatHere(context, registry, model);
    if (facts === null) return unknown('a mark of its format is too long');
    const tools = facts.format.tools?.name ?? ENVELOPE;
    return { json: { tools, format: facts }, lines: [['tools', tools], ...formatLines(facts)] };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return unknown(errorReason(error));
  }
}

function unknown(reason: string): ShownFormat {
  return {
    json: { tools: null, format: null, formatUnknown: reason },
    lines: [['tools', `not known: ${reason}`]],
  };
}

interface Facts {
  readonly shown: ModelDescription;
  readonly limits: string | null;
  readonly limit: string | null;
  readonly format: readonly Line[];
  readonly card: LastCard | null;
}

function facts({ shown, limits, limit, format, card }: Facts): Line[] {
  const { source } = shown;
  const settings = Object.entries(shown.settings).filter(([name]) => name !== 'template');
  return [
    ['id', `${shown.id}${shown.isDefault ? ` (default ${shown.kind} model)` : ''}`],
    ...(limits === null ? [] : [['limits', limits] as const]),
    ['aliases', shown.aliases.join(', ') || 'none'],
    ['kind', shown.kind],
    [
      'architecture',
      `${shown.architecture}, ${shown.quant ?? 'unknown quant'}${parameters(shown.parameterCount)}`,
    ],
    ['context', `${shown.contextLength} tokens${window(shown)}`],
    ...adapterLines(shown),
    ...sightLines(shown),
    ['vectors', vectors(shown)],
    ['template', template(shown)],
    ...(limit === null ? [] : [['answers end', limit] as const]),
    ...format,
    ['memory', memoryWords(shown)],
    ...systemLines(shown),
    ['defaults', requestDefaults(shown) || (settings.length > 0 ? 'none for requests' : 'none')],
    ...settings.map(([name, text]) => [name, shortText(text)] as const),
    ...(card === null ? [] : [['measured', cardWords(card)] as const]),
    ['licence', shown.license ?? 'not stated'],
    ['source', `${source.type} ${source.ref}${source.commit === undefined ? '' : ` at ${source.commit}`}`],
    ['installed', shown.addedAt],
    ...shown.files.flatMap((file) => [
      [file.role, `${file.path} (${readable(file.sizeBytes)})`] as const,
      [
        'sha256',
        file.sha256 === null
          ? 'not known'
          : `${file.sha256}${file.verified ? '' : ' (stated by its store; hearth verify compares it)'}`,
      ] as const,
    ]),
  ];
}

function limitWords(model: InstalledModel, format: ModelFormatFacts | null): string {
  const { maxTokens } = model.params;
  if (maxTokens !== undefined) return `after ${maxTokens} tokens, as set`;
  const named = unnamedLimit(model);
  const tokens = named ?? format?.unlimitedTokens ?? null;
  if (tokens === null) return 'with an end token, or at the end of the window';
  const why =
    named === null ? 'it has no end token that its template writes' : 'its file has no chat template';
  return `after ${tokens} tokens, because ${why}; hearth set ${model.id} max_tokens=N changes it`;
}

/** A narrower vector is padded with zeros; the treatment of a wider one depends on the request. */
function vectors({ id, kind, pooling, embeddingLength, params: { dimensions } }: ModelDescription): string {
  if (pooling === 'rank') return 'none; it scores pairs (rank pooling)';
  if (kind !== 'embedding') return 'none';
  const wanted = dimensions ?? EMBEDDING_WIDTH;
  const zeros =
    wanted === EMBEDDING_WIDTH && embeddingLength < EMBEDDING_WIDTH
      ? `, and zeros up to ${EMBEDDING_WIDTH} (hearth set ${id} dimensions=native leaves them out)`
      : '';
  return `${embeddingLength} numbers${zeros}; ${pooling ?? 'default'} pooling`;
}

function window({ id, memory: { numCtx }, kind }: ModelDescription): string {
  if (kind !== 'chat') return '';
  return numCtx === null
    ? ` at most; each load chooses its window (hearth fit ${id} shows it, hearth set ${id} num_ctx=N fixes it)`
    : ` at most; num_ctx is set to ${numCtx}`;
}

/** Estimated from the header, without buffers and sliding windows: the library would take seconds. */
function memoryWords({ id, memory }: ModelDescription): string {
  const { numCtx, weightsBytes, kvBytesPerToken } = memory;
  const weights = `${readable(weightsBytes)} weights`;
  if (kvBytesPerToken === 0) return weights;
  if (numCtx === null)
    return `${weights}, and at most ${readable(kvBytesPerToken)} of KV cache per token of the window; buffers: hearth fit ${id}`;
  const kvBytes = readable(kvBytesPerToken * numCtx);
  return `${weights}, at most ${kvBytes} of KV cache for one window of ${numCtx} tokens; buffers: hearth fit ${id}`;
}

function requestDefaults({ params }: ModelDescription): string {
  return paramsByName(params)
    .filter(([, { name }]) => !isLoadSetting(name) && name !== 'system')
    .map(([asked, { value }]) => `${asked}=${JSON.stringify(value)}`)
    .join(' ');
}

/** Shown in full, because it precedes every chat without a system message. */
function systemLines({ params: { system } }: ModelDescription): Line[] {
  if (system === undefined) return [];
  return system.split('\n').map((text, at) => [at === 0 ? 'system' : '', text] as const);
}

function adapterLines({ adapter, mtpLayers }: ModelDescription): (readonly [string, string])[] {
  if (adapter !== undefined) return [['adapter', `of ${adapter.targets} matrices, alpha ${adapter.alpha}`]];
  return mtpLayers === undefined ? [] : [['mtp layers', String(mtpLayers)]];
}

function sightLines({ projector }: ModelDescription): (readonly [string, string])[] {
  if (projector === undefined) return [];
  const { type, image, audio } = projector;
  const seen = [...(image ? ['images'] : []), ...(audio ? ['audio'] : [])].join(', ');
  return [['reads', `text, ${seen}${type === null ? '' : `; projector ${type}`}`]];
}

function parameters(count: number | null): string {
  if (count === null) return '';
  return count >= 1e9
    ? `, ${(count / 1e9).toFixed(1)} billion parameters`
    : `, ${(count / 1e6).toFixed(1)} million parameters`;
}

function template({ template: known, kind, params }: ModelDescription): string {
  if (params.template !== undefined) return `${shortText(params.template)}, as set`;
  if (known === null)
    return kind === 'chat' ? 'none: a base model, for /v1/completions; chats use ChatML' : 'none';

  const can = Object.entries(known).flatMap(([name, has]) => (has === true ? [name] : []));
  return `in the file${can.length > 0 ? `; supports ${can.join(', ')}` : ''}`;
}
