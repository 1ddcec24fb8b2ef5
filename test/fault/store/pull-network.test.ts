/** Faults of a hub and its network: every one ends in the right bytes or in a clean failure, never in between. */
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { blobPath } from '../../../src/store/files/paths.ts';
import type { Registry } from '../../../src/store/registry/registry.ts';
import {
  type FakeHub,
  type Hook,
  sendBytes,
  sendError,
  sha256,
  startFakeHub,
} from '../../support/hub/fake-hub.ts';
import { pullAll, pullOne } from '../../support/hub/pulling.ts';
import { chatBytes, temporaryRegistry } from '../../support/temp-home.ts';

const GOOD = chatBytes(1);
const REF = 'Some/Model-GGUF';

async function hubWith(onCdn: Hook): Promise<FakeHub> {
  const hub = await startFakeHub({ 'Tiny-Q4_0.gguf': GOOD });
  hub.onCdn = onCdn;
  return hub;
}

/** A hook that bends the first requests and lets the rest pass. */
function first(times: number, bend: Hook): Hook {
  let left = times;
  return (...all) => {
    left -= 1;
    return left >= 0 && bend(...all);
  };
}

/** Sends the range that was asked for, but cuts the connection after so many bytes of it. */
const cutAfter =
  (bytes: number): Hook =>
  (request, response) => {
    const start = Number(/\d+/.exec(request.headers.range ?? '0')?.[0]);
    const rest = GOOD.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': rest.length,
      ...(start > 0 ? { 'content-range': `bytes ${start}-${GOOD.length - 1}/${GOOD.length}` } : {}),
    });
    response.write(rest.subarray(0, bytes), () => response.destroy());
    return true;
  };

async function expectNothingInstalled(registry: Registry): Promise<void> {
  expect(await registry.list()).toEqual([]);
  expect(await readdir(registry.store.paths.blobs)).toEqual([]);
  const leftovers = await readdir(registry.store.paths.partial);
  expect(leftovers.filter((name) => !name.endsWith('.part'))).toEqual([]);
}

describe('a pull survives', () => {
  it.each<[string, Hook]>([
    ['connections cut at any point', first(40, cutAfter(100_000))],
    ['a connection cut before the first byte', first(2, (_request, response) => !!response.destroy())],
    [
      'answers of status 500 and 503',
      first(3, (_request, response) => {
        sendError(response, 503, '');
        return true;
      }),
    ],
    [
      'a server that ignores ranges',
      (request, response) => {
        delete request.headers.range;
        sendBytes(request, response, GOOD);
        return true;
      },
    ],
    [
      'a link that expired, by asking the hub for a fresh one',
      first(2, (_request, response) => {
        sendError(response, 403, '');
        return true;
      }),
    ],
    [
      'a range other than the one asked for',
      first(2, (request, response) => {
        if (request.headers.range === undefined)
          return cutAfter(50_000)(request, response, new URL('http://x'));
        response.writeHead(206, { 'content-range': `bytes 7-${GOOD.length - 1}/${GOOD.length}` });
        response.end(GOOD.subarray(7));
        return true;
      }),
    ],
    [
      'a range of a file of another size',
      first(2, (request, response) => {
        if (request.headers.range === undefined)
          return cutAfter(50_000)(request, response, new URL('http://x'));
        const start = Number(/\d+/.exec(request.headers.range)?.[0]);
        response.writeHead(206, { 'content-range': `bytes ${start}-${GOOD.length}/${GOOD.length + 1}` });
        response.end(GOOD.subarray(start));
        return true;
      }),
    ],
    [
      'status 416 to a range',
      first(2, (request, response) => {
        if (request.headers.range === undefined)
          return cutAfter(50_000)(request, response, new URL('http://x'));
        response.writeHead(416, { 'content-range': `bytes */${GOOD.length}` });
        response.end();
        return true;
      }),
    ],
    [
      'other content behind a resumed range, by starting over',
      first(2, (request, response) => {
        if (request.headers.range === undefined)
          return cutAfter(50_000)(request, response, new URL('http://x'));
        sendBytes(request, response, chatBytes(99));
        return true;
      }),
    ],
    [
      'one byte at a time at the start',
      (_request, response) => {
        response.writeHead(200, { 'content-length': GOOD.length });
        for (let at = 0; at < 64; at += 1) response.write(GOOD.subarray(at, at + 1));
        response.end(GOOD.subarray(64));
        return true;
      },
    ],
  ])('%s', async (_name, onCdn) => {
    const hub = await hubWith(onCdn);
    const registry = await temporaryRegistry();
    const model = await pullOne(registry, REF, hub.access);
    await registry.toTarget(model).source.verify();
    expect(model.files).toMatchObject([{ digest: sha256(GOOD) }]);
    expect(await readdir(registry.store.paths.partial)).toEqual([]);
  });

  it('silence in the middle, by giving the connection up and resuming', async () => {
    const hub = await hubWith(
      first(1, (_request, response) => {
        response.writeHead(200, { 'content-length': GOOD.length });
        response.write(GOOD.subarray(0, 100_000));
        return true;
      }),
    );
    const registry = await temporaryRegistry();
    const events = await pullAll(registry, REF, { ...hub.access, stallMs: 1_000 });
    expect(events.find((event) => event.status === 'retrying')).toMatchObject({
      reason: expect.stringContaining('nothing arrived'),
    });
    expect(hub.requests('cdn')[1]?.headers.range).toBe('bytes=100000-');
  });
});

describe('a pull refuses', () => {
  it.each<[string, string, Hook]>([
    [
      'other bytes of the right size',
      'digest_mismatch',
      (request, response) => {
        sendBytes(request, response, chatBytes(99));
        return true;
      },
    ],
    [
      'one flipped bit',
      'digest_mismatch',
      (request, response) => {
        const bad = Buffer.from(GOOD);
        bad[200_000]! ^= 1;
        sendBytes(request, response, bad);
        return true;
      },
    ],
    [
      'a web page',
      'hub_invalid',
      (_request, response) => {
        const page = Buffer.alloc(GOOD.length, ' ');
        page.write('<!DOCTYPE html><title>Sign in</title>');
        response.end(page);
        return true;
      },
    ],
    [
      'a shorter answer by its own word',
      'hub_invalid',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 134 });
        response.end(GOOD.subarray(0, 134));
        return true;
      },
    ],
    [
      'more bytes than announced',
      'hub_invalid',
      (_request, response) => {
        response.write(GOOD);
        response.end('more');
        return true;
      },
    ],
    [
      'an endless body',
      'hub_invalid',
      (_request, response) => {
        response.write(GOOD);
        const pump = (): void => {
          while (response.write(Buffer.alloc(65_536)));
          response.once('drain', pump);
        };
        pump();
        return true;
      },
    ],
    [
      'a compressed body',
      'hub_invalid',
      (_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': GOOD.length });
        response.end(GOOD);
        return true;
      },
    ],
  ])('%s', async (_name, code, onCdn) => {
    const hub = await hubWith(onCdn);
    const registry = await temporaryRegistry();
    await expect(pullAll(registry, REF, hub.access)).rejects.toMatchObject({ code });
    await expectNothingInstalled(registry);
    hub.onCdn = () => false;
    await pullOne(registry, REF, hub.access);
  });

  it('a pointer, or anything the gate refuses, although its digest is the listed one', async () => {
    const pointer = Buffer.from(
      `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 4\n`,
    );
    const broken = Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(500, 0xff)]);
    for (const content of [pointer, broken]) {
      const hub = await startFakeHub({ 'x-Q4_0.gguf': content });
      const registry = await temporaryRegistry();
      await expect(pullAll(registry, REF, hub.access)).rejects.toThrow();
      await expectNothingInstalled(registry);
      expect(await readdir(registry.store.paths.partial)).toEqual([]);
    }
  });

  it('gives up after bounded tries and keeps what it has for the next run', async () => {
    const hub = await hubWith(cutAfter(1000));
    const registry = await temporaryRegistry();
    await expect(pullAll(registry, REF, hub.access)).rejects.toMatchObject({ code: 'hub_unreachable' });
    expect(hub.requests('cdn')).toHaveLength(4);
    await expectNothingInstalled(registry);
    hub.onCdn = () => false;
    await pullOne(registry, REF, hub.access);
    expect(hub.requests('cdn').at(-1)?.headers.range).toBe('bytes=4000-');
    expect(await readdir(registry.store.paths.blobs)).toEqual([
      blobPath(registry.store.paths, sha256(GOOD)).split('/').at(-1),
    ]);
  });

  it('a hub that does not answer at all, or whose name does not exist', async () => {
    const registry = await temporaryRegistry();
    // Nobody waits for these as for a hub that answers and fails.
    const retries = { tries: 9, firstDelayMs: 1, longestDelayMs: 1 };
    const closed = { endpoint: 'http://127.0.0.1:9', retries };
    await expect(pullAll(registry, REF, closed)).rejects.toMatchObject({ code: 'hub_unreachable' });
    let asked = 0;
    const resolveAll = async () => {
      asked += 1;
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    };
    const unknown = { endpoint: 'https://hub.example', retries, resolveAll };
    await expect(pullAll(registry, REF, unknown)).rejects.toMatchObject({ code: 'hub_unreachable' });
    expect(asked).toBe(2);
  });
});
