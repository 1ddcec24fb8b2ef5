import { createHash } from 'node:crypto';
import type { InstalledModel } from '../../store/registry/registry.ts';
import { weightsName } from '../model-digest.ts';
import type { Service } from '../service.ts';

/** Changes when the backend's bytes or the model change: equal seeds promise equal answers only under one of these. */
export async function fingerprint(service: Service, model: InstalledModel): Promise<string> {
  const backend = await service.identity.backend();
  const weights = weightsName(model);
  return `fp_${createHash('sha256')
    .update(`${backend?.sha256 ?? 'none'} ${weights}`)
    .digest('hex')
    .slice(0, 16)}`;
}
