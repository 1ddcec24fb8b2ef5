/** A request that needs no key, to a port that may belong to any program: bounded in time, and no failure is an error. */
import { Check } from 'typebox/value';
import { HealthResponse } from '../wire/health.ts';
import { routes } from '../wire/routes.ts';
import { callService, type Place } from './transport.ts';

/** The headers with which a Hearth at this place answers /health; null when none does. */
export async function askHealth(place: Place, timeoutMs: number): Promise<Headers | null> {
  const controller = new AbortController();
  // Unlike that of AbortSignal.timeout, this timer keeps the process alive until a silent port is given up.
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    const call = { method: 'GET', path: routes.health.path, signal: controller.signal } as const;
    const response = await callService(place, call);
    const body: unknown = await response.json();
    return Check(HealthResponse, body) && body.product === 'hearth' ? response.headers : null;
  } catch {
    // Whatever does not answer as Hearth does is another program, or none; the reason does not matter to the user.
    return null;
  } finally {
    clearTimeout(timer);
  }
}
