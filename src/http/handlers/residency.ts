import type { UnloadRequest } from '../../protocol/residency.ts';
import { listResidencies, unloadModel } from '../../router/residency.ts';
import type { Service } from '../../router/service.ts';
import type { Handler } from './handler.ts';

export function residencyHandler(service: Service): Handler {
  return async () => listResidencies(service);
}

export function unloadHandler(service: Service): Handler {
  return async (request) => unloadModel(service, (request.body as UnloadRequest).model);
}
