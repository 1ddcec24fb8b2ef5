import type { Upstream } from '../../engine/upstream/ports.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { EngineStore } from '../../../store/engines/engine-store.ts';
import { type Environment, openUpstream } from '../../../store/engines/sources.ts';
import { findSeen } from './name-models.ts';
import { ownName } from './own-name.ts';

export interface UpstreamModel {
  readonly id: string;
  readonly upstream: Upstream;
  readonly model: string;
  /** SHA-256 of its weights, as the upstream reports; null: not reported. */
  readonly digest: string | null;
}

/** Null: no engine has such a model. Throws for a model of a command and for a pool. */
export async function findUpstreamModel(
  engines: Pick<EngineStore, 'read'>,
  name: string,
  env: Environment,
): Promise<UpstreamModel | null> {
  const seen = await findSeen(engines, name);
  if (seen === null) return null;
  const entry = (await engines.read()).entries.find((each) => each.name === seen.owner);
  if (entry?.type !== 'upstream') {
    const remedy =
      seen.engine === 'pool' ? 'name one of its members' : 'import its file (hearth import FILE)';
    throw fail('capability_missing', { model: seen.id, ability: 'be asked by this command', remedy });
  }
  const known = entry.known.find((each) => `${entry.name}/${ownName(each.name)}` === seen.id);
  if (known === undefined) throw fail('model_not_found', { model: name, param: 'model' });
  return { id: seen.id, upstream: openUpstream(entry, env), model: known.name, digest: known.digest };
}
