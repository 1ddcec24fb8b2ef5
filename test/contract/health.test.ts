import { describe, expect, it } from 'vitest';
import { answer, forEver, started } from '../support/http/scripted-engine.ts';
import { scriptedService, startScripted } from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const service = scriptedService({ apiKey: 'a-key-of-the-test' });

describe('GET /health', () => {
  it('says that the service lives, its name and whether a backend is bound', async () => {
    const { status, body } = await service.client.get('/health');
    verifies('get-health.response', () => {
      expect(status).toBe(200);
      expect(Object.keys(body).sort()).toEqual(['native_ready', 'product', 'status']);
    });
    verifies('health.status', () => expect(body.status).toBe('ok'));
    verifies('health.product', () => expect(body.product).toBe('hearth'));
    verifies('health.native-ready', () => expect(body.native_ready).toBe(true));
  });

  it('needs no key, no body and no parameters', async () => {
    const wrong = await service.client.get('/health', { authorization: 'Bearer wrong' });
    const none = await service.client.get('/health', { authorization: '' });
    const odd = await service.client.get('/health?anything=1', { authorization: '' });
    verifies(['auth.health', 'get-health.notes'], () =>
      expect([wrong.status, none.status]).toEqual([200, 200]),
    );
    verifies('get-health.request', () => expect([none.status, odd.status]).toEqual([200, 200]));
  });

  it('says that it drains, and that no backend is bound, and is 200 all the same', async () => {
    const bare = await startScripted({ nativeReady: false });
    bare.setDraining(true);
    const { status, body } = await bare.client.get('/health');
    await bare.close();
    expect([status, body]).toEqual([200, { status: 'draining', product: 'hearth', native_ready: false }]);
  });

  it('leaves readiness to GET /readyz, which needs no key and no known Host, but is no way in for pages', async () => {
    const bare = await startScripted({ nativeReady: false });
    const ask = async (to: typeof service, headers: Record<string, string> = {}) => {
      const { status, body } = await to.client.get('/readyz', { authorization: '', ...headers });
      return [status, body.code ?? body.status];
    };
    expect(await ask(service, { host: '10.9.8.7:8740' })).toEqual([200, 'ready']);
    expect(await ask(service, { origin: 'http://evil.test' })).toEqual([403, 'forbidden_origin']);
    expect(await ask(bare)).toEqual([503, 'native_unavailable']);
    bare.setOpen(false);
    expect(await ask(bare)).toEqual([503, 'starting']);
    bare.setDraining(true);
    expect(await ask(bare)).toEqual([503, 'draining']);
    await bare.close();
  });

  it('answers while an answer is being made, and starts no job itself', async () => {
    service.engine.plays([started(), forEver()]);
    const stream = await service.client.streamChat();
    const jobs = service.engine.played.length;
    const { status } = await service.client.get('/health');
    verifies('get-health.notes', () => expect([status, service.engine.played.length]).toEqual([200, jobs]));
    stream.abandon();
    await service.engine.lastJob.aborted;
    service.engine.plays(answer('x'));
    expect((await service.client.chat()).status).toBe(200);
  });
});
