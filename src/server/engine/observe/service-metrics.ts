import { Counter, Gauge, Registry } from 'prom-client';

export interface KeyFigures {
  readonly name: string;
  readonly openRequests: number;
  readonly tokensToday: number;
}

export interface RequestFigures {
  readonly route: string;
  readonly status: number;
  readonly error: string | null;
  readonly wasAdmitted: boolean;
}

export function serviceMetrics(registry: Registry): (request: RequestFigures) => void {
  const registers = [registry];
  const requests = new Counter({
    name: 'hearth_http_requests_total',
    help: 'Requests by route and status; 499 is a client that left before the head of its answer. A stream that fails after its head counts as 200; gen_ai_server_request_duration_seconds_count has its error_type.',
    labelNames: ['route', 'status'],
    registers,
  });
  const refusals = new Counter({
    name: 'hearth_refusals_total',
    help: 'Requests that failed before the engine took a job of them, by code (docs/errors.md).',
    labelNames: ['code'],
    registers,
  });
  return ({ route, status, error, wasAdmitted }) => {
    requests.inc({ route, status: String(status) });
    if (error !== null && !wasAdmitted) refusals.inc({ code: error });
  };
}

/** Separate registry, because not every reader may see every key. */
export function keyMetrics(keys: readonly KeyFigures[]): Registry {
  const registry = new Registry();
  const perKey = (name: string, help: string, pick: (key: KeyFigures) => number): void => {
    const gauge = new Gauge({ name, help, labelNames: ['key'], registers: [registry] });
    for (const key of keys) gauge.set({ key: key.name }, pick(key));
  };
  perKey(
    'hearth_key_requests_open',
    'Requests that run or wait, by named API key.',
    (key) => key.openRequests,
  );
  perKey('hearth_key_tokens_today', 'Tokens since midnight UTC, by named API key.', (key) => key.tokensToday);
  return registry;
}
