import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { routes } from '../../wire/routes.ts';
import { answerHealthProbes } from './health-probe.ts';

const INSIDE = 204;
const health = { status: 'ok', product: 'hearth', native_ready: true } as const;
const answered: string[] = [];
let usualWay = false;
let port = 0;

const server = http.createServer((_, response) => response.writeHead(INSIDE).end());
answerHealthProbes(server, {
  access: {
    allowedHosts: [],
    allowedOrigins: [],
    allowLocalPages: false,
    allowDockerHost: false,
    apiKey: null,
  },
  headers: () => ({ Server: 'hearth' }),
  health: () => health,
  needsUsualWay: () => usualWay,
  onAnswered: ({ route }) => answered.push(route),
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function ask(
  fields: Pick<http.RequestOptions, 'method' | 'path' | 'headers'> = {},
  body = '',
): Promise<{ status: number; text: string }> {
  const request = http.request({ port, host: '127.0.0.1', path: routes.health.path, ...fields });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
}

it('answers a plain probe, and tells of it', async () => {
  expect(await ask()).toEqual({ status: 200, text: JSON.stringify(health) });
  expect(answered).toEqual(['/health']);
});

it('leaves whatever is unusual to the usual way', async () => {
  const unusual = await Promise.all([
    ask({ path: '/health?' }),
    ask({ path: '/health/' }),
    ask({ path: '/v1/models' }),
    ask({ method: 'POST' }, '{}'),
    ask({ method: 'HEAD' }),
    ask({ headers: { 'content-length': '2' } }, '{}'),
    ask({ headers: { origin: 'http://127.0.0.1' } }),
    ask({ headers: { host: 'evil.example' } }),
    ask({ headers: { 'sec-fetch-site': 'cross-site' } }),
  ]);
  expect(unusual.map(({ status }) => status)).toEqual(unusual.map(() => INSIDE));
  usualWay = true;
  expect((await ask()).status).toBe(INSIDE);
  usualWay = false;
});
