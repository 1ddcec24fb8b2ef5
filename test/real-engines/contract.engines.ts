/** Every check against every engine that this machine has; what cannot pass is listed by name, and must still fail. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpClient } from '../support/http/http-client.ts';
import { type ServiceProcess, startService } from '../support/process/service-process.ts';
import { checks } from './checks.ts';
import { type RealEngine, realEngines } from './engines.ts';
import { addedLatency, throughput } from './figures.ts';

let service: ServiceProcess;
let client: HttpClient;

beforeAll(async () => {
  service = await startService();
  client = new HttpClient(service.url);
});

afterAll(() => service?.close());

const settings = () => ({
  SVC_HOME: service.home,
  SVC_PORT: new URL(service.url).port,
  PATH: process.env['PATH'] ?? '',
});

describe.each(realEngines.filter(({ missing }) => missing === null))('$name', (engine: RealEngine) => {
  let added: Awaited<ReturnType<RealEngine['add']>>;

  beforeAll(async () => {
    added = await engine.add(settings());
  });

  afterAll(() => added?.stop());

  it.each(Object.entries(checks))('%s', async (name, check) => {
    const reason = engine.fails[name];
    if (reason === undefined) return check(client, added.model);
    await expect(check(client, added.model), `${name} passes now; ${reason}`).rejects.toThrow();
  });

  it('figures', async () => {
    const { direct } = added;
    if (direct === null) return;
    const through = { url: service.url, model: added.model };
    const latency = await addedLatency(direct, through);
    const streams = await throughput(direct, through);
    process.stdout.write(`${JSON.stringify({ engine: engine.name, ...latency, ...streams })}\n`);
    expect(streams.streamsRatio).toBeGreaterThan(0);
  });
});

it.each(realEngines.filter(({ missing }) => missing !== null))(
  '$name is not here: $missing',
  ({ missing }) => {
    expect(missing).not.toBe('');
  },
);
