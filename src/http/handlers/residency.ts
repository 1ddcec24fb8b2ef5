import type { UnloadRequest } from '../../wire/residency.ts';
import { listResidencies, unloadModel } from '../../api/residency.ts';
import type { Service } from '../../api/service.ts';
import type { Handler } from './handler.ts';

export function residencyHandler(service: Service): Handler {
  return async () => listResidencies(service);
}

export function unloadHandler(service: Service): Handler {
  return async (request) => unloadModel(service, (request.body as UnloadRequest).model);
}
