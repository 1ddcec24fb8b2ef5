import { isAbsolute } from 'node:path';
import { knownTemplate } from '../../../../packages/chat-templates/src/form/known-templates.ts';
import type { ModelFormatFacts } from '../../../contract/job-event.ts';
import { shortText } from '../../../contract/settings/shapes.ts';
import { CHECK } from '../../../store/passports/check-record.ts';
import { readFinding } from '../../../store/passports/findings.ts';
import { describeModel } from '../../../store/registry/describe.ts';
import { makerDefaults, makerTemplate } from '../../../store/registry/maker-defaults.ts';
import { isLoadSetting, paramsByName } from '../../../store/registry/param-names.ts';
import type { InstalledModel, Registry } from '../../../store/registry/registry.ts';
import { canonicalSha256, sha256Hex } from '../../../trust/identity/canonical.ts';
import { TOOL_PROTOCOL } from '../../../wire/inference/tool-envelope.ts';
import type {
  CheckShown,
  EvalShown,
  ReferenceShown,
  Passport,
  SignatureShown,
  TemplateShown,
} from '../../../wire/operation/passport.ts';
import { cardFile, lastCard, lastCardAgainst } from '../eval/card.ts';
import { settingsDigest } from './settings-digest.ts';

export interface PassportContext {
  readonly home: string;
  readonly registry: Registry;
  readonly signed: (model: InstalledModel) => Promise<SignatureShown | null>;
  /** Null: not known. */
  readonly format: ModelFormatFacts | null;
}

export async function makePassport(model: InstalledModel, context: PassportContext): Promise<Passport> {
  const { registry, home, signed, format } = context;
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
    signatures: await signed(model),
    template: await showTemplate(model, registry),
    tool_format: showToolFormat(format),
    sampling: { recommended: await recommended(model, registry), set: requestDefaults(model) },
    check: await showCheck(model, home),
    eval: model.kind === 'chat' ? await showEval(model, home) : null,
    eval_reference: model.kind === 'chat' ? await showReference(model, home) : null,
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

const showToolFormat = (facts: ModelFormatFacts | null): Passport['tool_format'] =>
  facts === null
    ? null
    : { name: facts.format.tools?.name ?? TOOL_PROTOCOL.name, sha256: canonicalSha256(facts.format) };

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

async function showEval(model: InstalledModel, home: string): Promise<EvalShown | null> {
  const card = await lastCard(home, model);
  if (card === null || card.outdated === 'file') return null;
  const { report, issuedAt, outdated, hearth, library } = card;
  return {
    issued_at: issuedAt,
    hearth,
    library,
    is_current: outdated === null,
    verdict: report.verdict,
    findings: [...report.findings],
    card: cardFile(home, model.id),
  };
}

async function showReference(model: InstalledModel, home: string): Promise<ReferenceShown | null> {
  const card = await lastCardAgainst(home, model);
  if (card === null) return null;
  const { report, issuedAt: issued_at, hearth, library } = card;
  const { reference_bits_per_byte: bits_per_byte } = report.whole;
  return { of: report.model, issued_at, hearth, library, bits_per_byte };
}

export function withoutPaths(passport: Passport): Passport {
  const { origin, files, eval: measured, eval_reference: reference } = passport;
  return {
    ...passport,
    origin: { ...origin, ref: origin.ref === null || isPath(origin) ? null : origin.ref },
    files: files.map((file) => ({ ...file, path: null })),
    eval: measured && { ...measured, card: null },
    // The caller's key may be for some models only.
    eval_reference: reference && { ...reference, of: null },
  };
}

/** Stores and hubs name their models; a file has no other name than its path. */
const isPath = ({ type, ref }: Passport['origin']): boolean => type === 'file' || isAbsolute(ref ?? '');
