import { describe, expect, it } from 'vitest';
import { answer, forEver, started } from '../support/http/scripted-engine.ts';
import { scriptedService, startScripted } from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const service = scriptedService({ apiKey: 'a-key-of-the-test' });

describe('GET /health', () => {
  it('says that the service lives, its name and whether a backend is bound', async () => {
    verifies('health.status', 'health.product', 'health.native-ready', 'get-health.response');
    const { status, body } = await service.client.get('/health');
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'ok', product: 'hearth', native_ready: true });
  });

  it('needs no key, no body and no parameters', async () => {
    verifies('get-health.request', 'get-health.notes', 'auth.health');
    const { status } = await service.client.get('/health', { authorization: 'Bearer wrong' });
    expect(status).toBe(200);
    expect((await service.client.get('/health?anything=1', { authorization: '' })).status).toBe(200);
  });

  it('says that it drains, and that no backend is bound, and is 200 all the same', async () => {
    const bare = await startScripted({ nativeReady: false });
    bare.setDraining(true);
    const { status, body } = await bare.client.get('/health');
    await bare.close();
    expect([status, body]).toEqual([200, { status: 'draining', product: 'hearth', native_ready: false }]);
  });

  it('answers while an answer is being made, and starts no job itself', async () => {
    verifies('get-health.notes');
    service.engine.plays([started(), forEver()]);
    const stream = await service.client.streamChat();
    const jobs = service.engine.played.length;
    expect((await service.client.get('/health')).status).toBe(200);
    expect(service.engine.played.length).toBe(jobs);
    stream.abandon();
    await service.engine.lastJob.aborted;
    service.engine.plays(answer('x'));
    expect((await service.client.chat()).status).toBe(200);
  });
});
