import type { InstalledModel } from '../../store/registry/registry.ts';
import { fingerprint } from './fingerprint.ts';
import type { Service } from '../service.ts';

/** What every answer and every chunk of a stream begins with; `idOf` is given the time of creation in seconds. */
export async function answerHead<T extends string>(
  service: Service,
  model: InstalledModel,
  object: T,
  idOf: (created: number) => string,
) {
  const created = Math.floor(service.clock.unixMs() / 1000);
  return {
    id: idOf(created),
    object,
    created,
    model: model.id,
    system_fingerprint: await fingerprint(service, model),
  };
}
