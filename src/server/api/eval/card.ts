/** The signed card of a model: made of a measurement, kept in the home, and read again with its signature checked. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pickSettings } from '../../../contract/settings/shapes.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { fail, isSvcError } from '../../../lib/errors/svc-error.ts';
import { makeFolder, writeDurably } from '../../../lib/files/durable.ts';
import { knownDigest, modelFiles } from '../../../store/files/manifest.ts';
import { idToFileName } from '../../../store/files/model-id.ts';
import type { InstalledModel, Registry } from '../../../store/registry/registry.ts';
import { isCard } from '../../../trust/evidence/any-statement.ts';
import type { EvalPredicate, EvalReport } from '../../../trust/evidence/eval-statement.ts';
import { openOwnIssuer } from '../../../trust/evidence/own-issuer.ts';
import { canonicalSha256 } from '../../../trust/identity/canonical.ts';
import type { Envelope } from '../../../trust/identity/dsse.ts';
import { provenModel } from '../generation/frozen.ts';
import type { UpstreamModel } from '../remote-models/upstream-model.ts';
import { checkClaims } from '../replay/check-claims.ts';
import { readKeyring, readRecord } from '../replay/evidence-files.ts';
import { evalFolder } from './eval-folder.ts';
import type { Measurement } from './measure.ts';
import { setSha256 } from './report.ts';

export type Card = EvalReport & { readonly evidence: Envelope };

interface CardOptions {
  readonly home: string;
  readonly version: string;
  /** Where libraries besides npm's are installed. */
  readonly libraries: string;
  readonly registry: Registry;
}

export interface CardModels {
  readonly model: InstalledModel;
  readonly reference: InstalledModel | UpstreamModel | null;
}

/** Throws `evidence_unavailable` where nothing proves which bytes ran. */
export async function signCard(
  { home, version, libraries, registry }: CardOptions,
  { model, reference }: CardModels,
  { report, host }: Pick<Measurement, 'host'> & { readonly report: EvalReport },
): Promise<Card> {
  if ('unknown' in host) throw fail('evidence_unavailable', { reason: host.unknown });
  const issuer = await openOwnIssuer({ home, version, libraries, clock: systemClock });
  const backend = await issuer.backend();
  if (backend === null) throw fail('evidence_unavailable', { reason: 'the library that ran is not found' });
  const named = async (each: InstalledModel) => {
    const proven = await provenModel({ id: each.id, proof: () => registry.provenance.of(each) });
    await proven.confirm();
    return proven.model;
  };
  const evidence = await issuer.issueCard({
    model: await named(model),
    reference:
      reference === null
        ? null
        : 'upstream' in reference
          ? describeUpstream(reference)
          : await named(reference),
    settings: { sha256: settingsSha256(model) },
    set: { texts_sha256: setSha256() },
    report,
    backend,
    host,
  });
  return { ...report, evidence };
}

const describeUpstream = ({ id, upstream, digest }: UpstreamModel) => ({
  id,
  upstream: upstream.name,
  stated_sha256: digest,
});

const settingsSha256 = ({ params }: InstalledModel): string => canonicalSha256(pickSettings(params));

export const cardFile = (home: string, id: string): string =>
  path.join(evalFolder(home), `${idToFileName(id)}.json`);

/** In the place of the model's last one; the path of its file. */
export async function keepCard(home: string, card: Card): Promise<string> {
  const file = cardFile(home, card.model);
  await makeFolder(path.dirname(file));
  await writeDurably(file, `${JSON.stringify(card, null, 2)}\n`);
  return file;
}

export interface LastCard {
  readonly report: EvalReport;
  /** RFC 3339, UTC. */
  readonly issuedAt: string;
  /** What changed since; null: nothing. */
  readonly outdated: 'file' | 'settings' | null;
  readonly hearth: string;
  /** Of llama.cpp. */
  readonly library: { readonly release: string; readonly sha256: string };
}

/** What was last measured of a model; null: nothing, or a card that this home did not sign. */
export async function lastCard(home: string, model: InstalledModel): Promise<LastCard | null> {
  const predicate = await readCard(home, cardFile(home, model.id));
  if (predicate === null) return null;
  const isOfSettings = settingsSha256(model) === predicate.settings.sha256;
  return {
    report: predicate.report,
    outdated: !isSameFile(model, predicate.model) ? 'file' : isOfSettings ? null : 'settings',
    ...circumstances(predicate),
  };
}

/** The last card that compares another model with this one: its report says how well this one predicts the texts. */
export async function lastCardAgainst(
  home: string,
  model: InstalledModel,
): Promise<Omit<LastCard, 'outdated'> | null> {
  const names = await readdir(evalFolder(home)).catch(() => []);
  const cards: Omit<LastCard, 'outdated'>[] = [];
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const predicate = await readCard(home, path.join(evalFolder(home), name));
    const reference = predicate?.reference ?? null;
    if (predicate === null || reference === null || 'upstream' in reference) continue;
    if (isSameFile(model, reference)) cards.push({ report: predicate.report, ...circumstances(predicate) });
  }
  return cards.sort((a, b) => (a.issuedAt < b.issuedAt ? 1 : -1))[0] ?? null;
}

function isSameFile(model: InstalledModel, { blob_sha256: digest }: EvalPredicate['model']): boolean {
  const [first] = modelFiles(model);
  return first !== undefined && knownDigest(first) === digest;
}

const circumstances = ({ issuer, server, backend }: EvalPredicate) => ({
  issuedAt: issuer.issued_at,
  hearth: server.version,
  library: { release: backend.llama_commit, sha256: backend.backend_sha256 },
});

/** Null: no card, or one that this home did not sign. */
async function readCard(home: string, file: string): Promise<EvalPredicate | null> {
  try {
    const { record } = await readRecord(file);
    const { findings, statement } = checkClaims(record, await readKeyring(home, undefined), {
      request: null,
    });
    if (statement === null || !isCard(statement)) return null;
    const isSound = !findings.some(({ outcome }) => outcome === 'failed' || outcome === 'incomparable');
    return isSound ? statement.predicate : null;
  } catch (error) {
    // A card that cannot be read is as good as none: the model can be measured again.
    if (isSvcError(error)) return null;
    throw error;
  }
}
