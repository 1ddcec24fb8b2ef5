import { PRODUCT_NAME } from './identity.ts';
import { DRAINING, type HealthResponse } from '../wire/health.ts';

export interface HealthPorts {
  readonly isDraining: () => boolean;
  readonly isNativeReady: () => boolean;
}

/** Cheap by construction: loads nothing, hashes nothing, keeps nothing loaded. */
export function health({ isDraining, isNativeReady }: HealthPorts): HealthResponse {
  return {
    status: isDraining() ? DRAINING : 'ok',
    product: PRODUCT_NAME,
    native_ready: isNativeReady(),
  };
}
