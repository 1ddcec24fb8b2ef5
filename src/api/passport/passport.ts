/** Everything that is known of one installed model, in one document. */
import { knownTemplate } from '../../../packages/chat-templates/src/form/known-templates.ts';
import type { ModelFormatFacts } from '../../contract/job-event.ts';
import { shortText } from '../../contract/settings/shapes.ts';
import { CHECK, type CheckRecord } from '../../store/passports/check-record.ts';
import { readFinding } from '../../store/passports/findings.ts';
import { describeModel } from '../../store/registry/describe.ts';
import { makerDefaults, makerTemplate } from '../../store/registry/maker-defaults.ts';
import { isLoadSetting, paramsByName } from '../../store/registry/param-names.ts';
import type { InstalledModel, Registry } from '../../store/registry/registry.ts';
import { canonicalSha256, sha256Hex } from '../../trust/identity/canonical.ts';
import { type EvalQuote, quotedEval } from './quoted-eval.ts';
import { settingsDigest } from './settings-digest.ts';
import { showSignatures, type SignatureShown } from './show-signatures.ts';

export interface Passport {
  readonly object: 'svc.passport';
  readonly model: string;
  readonly kind: string;
  readonly architecture: string;
  readonly quant: string | null;
  readonly parameter_count: number | null;
  readonly license: string | null;
  readonly origin: {
    readonly type: string;
    readonly ref: string;
    readonly commit: string | null;
    readonly endpoint: string | null;
    readonly installed_at: string;
  };
  readonly files: readonly {
    readonly role: string;
    readonly path: string;
    readonly size_bytes: number;
    readonly sha256: string | null;
    /** False: another program states the digest, and nothing has compared it with the bytes. */
    readonly is_computed: boolean;
  }[];
  /** Null: nobody looked for signatures when it was installed. */
  readonly signatures: SignatureShown | null;
  readonly template: TemplateShown;
  /** Null: not of a chat model, or not known. */
  readonly tool_format: { readonly name: string; readonly sha256: string } | null;
  readonly sampling: {
    /** By the names of the file. */
    readonly recommended: Readonly<Record<string, number>>;
    /** What the user set, by the names of `hearth set`. */
    readonly set: Readonly<Record<string, unknown>>;
  };
  readonly check: CheckShown | null;
  readonly eval: EvalQuote | null;
}

/** `sha256`: of the text that conversations are written with; null for a template that Hearth brings along by its name. */
export interface TemplateShown {
  readonly source: 'file' | 'set' | 'none';
  readonly name: string | null;
  readonly sha256: string | null;
}

export interface CheckShown {
  readonly checked_at: string;
  readonly hearth: string;
  readonly library: CheckRecord['library'];
  /** False: its settings changed since. */
  readonly is_current: boolean;
  readonly cases: CheckRecord['cases'];
  readonly defects: readonly string[];
}

export interface PassportContext {
  readonly home: string;
  readonly registry: Registry;
  /** As SVC_SIGNERS lists them. */
  readonly signers: readonly string[];
  readonly tools: string;
  /** Null: not known. */
  readonly format: ModelFormatFacts | null;
}

export async function makePassport(model: InstalledModel, context: PassportContext): Promise<Passport> {
  const { registry, home } = context;
  const { source, license, addedAt, files, ...shown } = await describeModel(registry, model);
  return {
    object: 'svc.passport',
    model: model.id,
    kind: model.kind,
    architecture: shown.architecture,
    quant: shown.quant,
    parameter_count: shown.parameterCount,
    license,
    origin: {
      type: source.type,
      ref: source.ref,
      commit: source.commit ?? null,
      endpoint: source.endpoint ?? null,
      installed_at: addedAt,
    },
    files: files.map(({ role, path, sizeBytes, sha256, verified }) => ({
      role,
      path,
      size_bytes: sizeBytes,
      sha256,
      is_computed: verified,
    })),
    signatures: await showSignatures(model, context),
    template: await showTemplate(model, registry),
    tool_format: showToolFormat(context),
    sampling: { recommended: await recommended(model, registry), set: requestDefaults(model) },
    check: await showCheck(model, home),
    eval: await quotedEval(home, model),
  };
}

async function showTemplate(model: InstalledModel, registry: Registry): Promise<TemplateShown> {
  const { template } = model.params;
  if (template !== undefined) {
    const isKnown = knownTemplate(template) !== undefined;
    return { source: 'set', name: shortText(template), sha256: isKnown ? null : sha256Hex(template) };
  }
  if (!model.facts.hasChatTemplate) return { source: 'none', name: null, sha256: null };
  const text = await makerTemplate(registry, model);
  return { source: 'file', name: null, sha256: text === null ? null : sha256Hex(text) };
}

const showToolFormat = ({ tools, format }: PassportContext): Passport['tool_format'] =>
  format === null ? null : { name: tools, sha256: canonicalSha256(format.format) };

/** An adapter and an embedding model have none. */
async function recommended(
  model: InstalledModel,
  registry: Registry,
): Promise<Readonly<Record<string, number>>> {
  return model.kind === 'chat' ? makerDefaults(registry, model) : {};
}

function requestDefaults({ params }: InstalledModel): Record<string, unknown> {
  return Object.fromEntries(
    paramsByName(params)
      .filter(([, { name }]) => !isLoadSetting(name) && name !== 'system')
      .map(([asked, { value }]) => [asked, value]),
  );
}

async function showCheck(model: InstalledModel, home: string): Promise<CheckShown | null> {
  const kept = await readFinding(home, model, CHECK);
  if (kept === null) return null;
  const { checkedAt, hearth, library, cases, defects, settingsSha256 } = kept;
  const is_current = settingsSha256 === settingsDigest(model);
  return { checked_at: checkedAt, hearth, library, is_current, cases, defects };
}
