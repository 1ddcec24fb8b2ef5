/** A file swapped after boot: nothing that runs changes, no worker binds it, and only a restart takes it over. */
import { appendFile, cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtDist } from '../support/process/hearth.ts';
import { EvidenceService, statementOf } from '../support/records/evidence-service.ts';

// Below the repository, so that the copy finds the same packages.
const copy = path.resolve('node_modules/.cache', `hearth-swap-${process.pid}`);
let service: EvidenceService;

beforeAll(async () => {
  await mkdir(copy, { recursive: true });
  await cp(builtDist, path.join(copy, 'dist'), { recursive: true });
  await cp('package.json', path.join(copy, 'package.json'));
  service = await EvidenceService.create({ tiny: {} }, { server: path.join(copy, 'dist') });
  await service.start();
});
afterAll(async () => {
  await service.remove();
  await rm(copy, { recursive: true, force: true });
});

const request = { model: 'tiny', messages: [{ role: 'user', content: 'hi' }], max_tokens: 4 };
const identity = async () =>
  (await (await fetch(`${service.url}/v1/identity`)).json()) as Record<string, unknown>;

it('is refused by the next worker of this boot, and taken over by a restart', async () => {
  const before = await identity();
  expect((await service.freeze(request)).status).toBe(200);
  await appendFile(path.join(copy, 'dist/worker/main.js'), '\n// swapped\n');
  expect(await identity()).toEqual(before);
  // What is loaded still runs, and still is what it was.
  const running = await service.freeze(request);
  expect(statementOf(running).predicate.server.server_source_sha256).toBe(before['server_source_sha256']);
  // The loaded worker and the spare one go; a new one would have to load the swapped file.
  let refused = await service.post(request);
  for (let tries = 0; refused.status === 200 && tries < 5; tries += 1) {
    await service.killWorkers();
    refused = await service.post(request);
  }
  expect(refused.status).toBe(503);
  expect(JSON.stringify(refused.body)).toMatch(/changed after this boot\); restart the service\./);
  expect(JSON.stringify(refused.body)).not.toContain('reinstall');
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  expect((await identity())['server_source_sha256']).toBe(before['server_source_sha256']);
  await service.stop();
  await service.start();
  expect((await service.freeze(request)).status).toBe(200);
  expect((await identity())['server_source_sha256']).not.toBe(before['server_source_sha256']);
});
