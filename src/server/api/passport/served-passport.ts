/** The passport of a model as the service gives it: a worker reads its format, which is remembered. */
import type { ModelFormatFacts } from '../../../contract/job-event.ts';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import type { ModelTarget } from '../../engine/ports.ts';
import type { InstalledModel, Registry } from '../../../store/registry/registry.ts';
import type { Passport } from '../../../wire/operation/passport.ts';
import { buildEdition, knownFormat } from '../check/known-format.ts';
import { makePassport } from './passport.ts';
import { showKnownSignatures } from './show-signatures.ts';

export interface PassportSource {
  readonly home: string;
  readonly registry: Registry;
  readonly signers: readonly string[];
  readonly version: string;
  readonly ask: (target: ModelTarget) => Promise<ModelFormatFacts | null>;
}

export async function servedPassport(model: InstalledModel, source: PassportSource): Promise<Passport> {
  return makePassport(model, {
    home: source.home,
    registry: source.registry,
    signed: (each) => showKnownSignatures(each, source),
    format: model.kind === 'chat' ? await askFormat(model, source) : null,
  });
}

/** Null if its template or its format cannot be used: what else is known of it counts all the same. */
async function askFormat(
  model: InstalledModel,
  { home, registry, version, ask }: PassportSource,
): Promise<ModelFormatFacts | null> {
  const edition = await buildEdition(version);
  return knownFormat({ home, edition }, model, () => ask(registry.toTarget(model))).catch(
    (error: unknown) => {
      if (!isSvcError(error)) throw error;
      return null;
    },
  );
}
