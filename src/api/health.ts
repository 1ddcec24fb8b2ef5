import type { HealthResponse } from '../wire/health.ts';
import { productName } from './identity.ts';
import type { Service } from './service.ts';

/** Cheap by construction: loads nothing, hashes nothing, prolongs nothing. */
export function health(service: Service): HealthResponse {
  return {
    status: service.draining() ? 'draining' : 'ok',
    product: productName,
    native_ready: service.identity.nativeReady(),
  };
}
