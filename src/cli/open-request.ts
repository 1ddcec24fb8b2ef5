/** Requests without a key to a port that may belong to any program: bounded in time, and never failing. */
import { Check } from 'typebox/value';
import { HealthResponse } from '../wire/health.ts';
import { routes } from '../wire/routes.ts';
import { callService, type Place } from './transport.ts';

export async function askHealth(place: Place, timeoutMs: number): Promise<Headers | null> {
  const controller = new AbortController();
  // Unlike the timer of AbortSignal.timeout, this one keeps the process alive until a silent port is given up.
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    const call = { method: 'GET', path: routes.health.path, signal: controller.signal } as const;
    const response = await callService(place, call);
    const body: unknown = await response.json();
    return Check(HealthResponse, body) && body.product === 'hearth' ? response.headers : null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
