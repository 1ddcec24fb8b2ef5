/** A hostile hub, or one that somebody sits in front of: credentials, redirects, listings and names. */
import { createServer, type ServerResponse } from 'node:http';
import { readdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { removeModel } from '../../../src/store/install/changes.ts';
import { isPublicAddress } from '../../../src/store/hub/address-guard.ts';
import { isSvcError } from '../../../src/lib/errors/svc-error.ts';
import { COMMIT, type FakeHub, listen, sendJson, sha256, startFakeHub } from '../../support/hub/fake-hub.ts';
import { pullAll, pullOne } from '../../support/hub/pulling.ts';
import { chatBytes, temporaryFolder, temporaryRegistry } from '../../support/temp-home.ts';

const REF = 'Some/Model-GGUF';
const TOKEN = 'hf_abcdefghijklmnopqrstuvwxyz0123456789';

/** A server that must never be reached; its log is what is asserted. */
async function canary(): Promise<{ origin: string; seen: { url: string; headers: object }[] }> {
  const seen: { url: string; headers: object }[] = [];
  const origin = await listen(
    createServer((request, response) => {
      seen.push({ url: request.url ?? '', headers: request.headers });
      response.end('{}');
    }),
  );
  return { origin, seen };
}

function redirectFiles(hub: FakeHub, location: string): void {
  hub.onHub = (_request, response, url) => {
    if (!url.pathname.includes('/resolve/')) return false;
    response.writeHead(302, { location });
    response.end();
    return true;
  };
}

describe('the token', () => {
  it('goes to the configured hub with every request and to nobody else', async () => {
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes() });
    await pullOne(await temporaryRegistry(), REF, { ...hub.access, token: TOKEN });
    expect(hub.requests('hub').length).toBeGreaterThan(2);
    for (const { headers } of hub.requests('hub')) expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(hub.requests('cdn')).toHaveLength(1);
    for (const { headers } of hub.requests('cdn')) expect(JSON.stringify(headers)).not.toContain(TOKEN);
  });

  it('is not sent to a next page on another origin, nor repeated in a failure', async () => {
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes() });
    const other = await canary();
    hub.onHub = (_request, response, url) => {
      if (!url.pathname.includes('/tree/')) return false;
      sendJson(response, [], { link: `<${other.origin}/api/next>; rel="next"` });
      return true;
    };
    const options = { ...hub.access, token: TOKEN, trustedHosts: [new URL(other.origin).host] };
    const failure = await pullAll(await temporaryRegistry(), REF, options).catch((error: unknown) => error);
    expect(other.seen).toHaveLength(1);
    expect(JSON.stringify(other.seen)).not.toContain(TOKEN);
    expect(JSON.stringify(failure) + String(failure)).not.toContain(TOKEN);
  });
});

describe('a redirect', () => {
  it('to a private address, another scheme or a lookalike is refused before any request', async () => {
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes() });
    const victim = await canary();
    const { port } = new URL(victim.origin);
    const registry = await temporaryRegistry();
    const targets = [
      victim.origin,
      `http://localhost:${port}/`,
      `https://127.0.0.1:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://2130706433:${port}/`,
      `http://[::1]:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      `https://0.0.0.0:${port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'https://169.254.169.254/',
      'https://10.0.0.1/',
      'https://192.168.1.1/',
      'https://[fd00::1]/',
      'https://[fe80::1]/',
      'https://[64:ff9b::7f00:1]/',
      'file:///etc/passwd',
      'ftp://127.0.0.1/',
      'data:text/plain,GGUF',
      'http://example.com/plain',
      `https://user:secret@127.0.0.1:${port}/`,
      'https://',
    ];
    for (const target of targets) {
      redirectFiles(hub, target);
      const outcome = await pullAll(registry, REF, { ...hub.access, trustedHosts: [] }).catch(
        (error: unknown) => error,
      );
      expect(outcome, target).toMatchObject({ code: 'hub_refused' });
    }
    expect(victim.seen).toEqual([]);
    expect(await readdir(registry.store.paths.blobs)).toEqual([]);
  });

  it('to a public name that resolves to a private address is refused, on any of its addresses', async () => {
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes() });
    const victim = await canary();
    redirectFiles(hub, `https://cdn.example:${new URL(victim.origin).port}/`);
    const answers = [
      [{ address: '127.0.0.1', family: 4 }],
      [
        { address: '93.184.216.34', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
      [{ address: '::1', family: 6 }],
    ];
    for (const addresses of answers) {
      const options = { ...hub.access, trustedHosts: [], resolveAll: async () => addresses };
      await expect(pullAll(await temporaryRegistry(), REF, options)).rejects.toMatchObject({
        code: 'hub_refused',
      });
    }
    expect(victim.seen).toEqual([]);
  });

  it('is resolved once per hop, so that a second answer of the name server cannot differ', async () => {
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes() });
    const lookups: string[] = [];
    redirectFiles(hub, 'https://cdn.example:9/');
    const resolveAll = async (host: string) => {
      lookups.push(host);
      return [{ address: lookups.length === 1 ? '192.0.3.1' : '127.0.0.1', family: 4 }];
    };
    const options = (stallMs: number) => ({
      ...hub.access,
      stallMs,
      trustedHosts: [],
      resolveAll,
      retries: { tries: 1, firstDelayMs: 1, longestDelayMs: 1 },
    });
    // Nobody answers at the first address. A busy machine may also be silent for so long on the way there.
    for (let stallMs = 50; lookups.length === 0; stallMs *= 2)
      await expect(pullAll(await temporaryRegistry(), REF, options(stallMs))).rejects.toThrow();
    expect(lookups).toEqual(['cdn.example']);
  });

  it('in a circle ends after a few hops', async () => {
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes() });
    redirectFiles(hub, `${hub.endpoint}/${REF}/resolve/${COMMIT}/x-Q4_0.gguf`);
    await expect(pullAll(await temporaryRegistry(), REF, hub.access)).rejects.toMatchObject({
      code: 'hub_refused',
    });
    expect(hub.requests('hub').length).toBeLessThan(10);
  });

  it('knows public addresses from all others', () => {
    for (const address of [
      '1.1.1.1',
      '93.184.216.34',
      '192.0.3.1',
      '2606:4700::1',
      '64:ff9b::5db8:d822',
      '64:ff9b::101:101',
      '172.32.0.1',
      '100.128.0.1',
    ])
      expect(isPublicAddress(address), address).toBe(true);
    for (const address of [
      '127.0.0.1',
      '0.0.0.0',
      '10.1.2.3',
      '172.31.255.255',
      '100.64.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      '::ffff:8.8.8.8',
      'fc00::1',
      'fe80::1',
      '2002:7f00:1::',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b::127.0.0.1',
      '64:ff9b::',
      '64:ff9b:0:0:0:0:a00:1',
      '64:ff9b:1::1',
      'name',
    ])
      expect(isPublicAddress(address), address).toBe(false);
  });

  it('without encryption is refused even to the configured hub, unless it is on this machine', async () => {
    for (const endpoint of ['http://hub.example', 'http://93.184.216.34', 'ftp://hub.example']) {
      const resolveAll = async () => [{ address: '93.184.216.34', family: 4 }];
      await expect(pullAll(await temporaryRegistry(), REF, { endpoint, resolveAll })).rejects.toMatchObject({
        code: 'hub_refused',
      });
    }
  });
});

describe('a listing', () => {
  it('that is a decompression bomb or endless is cut off', async () => {
    const hub = await startFakeHub({});
    const registry = await temporaryRegistry();
    const endless =
      (encoding: Readonly<Record<string, string>>, chunk: Buffer) =>
      (_request: unknown, response: ServerResponse): boolean => {
        response.writeHead(200, { ...encoding, 'content-type': 'application/json' });
        const pump = (): void => {
          while (response.write(chunk));
          response.once('drain', pump);
        };
        pump();
        return true;
      };
    // Who read either to its end would never be done.
    hub.onHub = endless({ 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(4 * 1024 * 1024, ' ')));
    await expect(pullAll(registry, REF, hub.access)).rejects.toMatchObject({ code: 'hub_invalid' });
    hub.onHub = endless({}, Buffer.alloc(65_536, ' '));
    await expect(pullAll(registry, REF, hub.access)).rejects.toThrow('4194304 bytes');
  });

  it('with pages without end is cut off', async () => {
    const hub = await startFakeHub({});
    hub.onHub = (_request, response, url) => {
      if (!url.pathname.includes('/tree/')) return false;
      sendJson(response, [], { link: `<${hub.endpoint}${url.pathname}?again>; rel="next"` });
      return true;
    };
    await expect(pullAll(await temporaryRegistry(), REF, hub.access)).rejects.toMatchObject({
      code: 'hub_invalid',
    });
  });

  it('in any other shape is a typed failure that leaves the store as it was', async () => {
    const good = chatBytes(1);
    const hub = await startFakeHub({ 'x-Q4_0.gguf': good });
    const registry = await temporaryRegistry();
    await registry.store.prepareFolders();
    const entry = {
      type: 'file',
      path: 'x-Q4_0.gguf',
      size: good.length,
      oid: 'a'.repeat(40),
      lfs: { oid: sha256(good), size: good.length },
    };
    const strange = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(
        '../../../etc/passwd.gguf',
        '/etc/x.gguf',
        'a/../x.gguf',
        '\u0000.gguf',
        '-00001-of-99999.gguf',
        'x-Q4_0.gguf',
        'sha256:..',
        '\u001b]52;c;x\u0007.gguf',
      ),
      fc.constantFrom(-1, 2 ** 60, 1.5, 1e308),
    );
    const field = fc.constantFrom('type', 'path', 'size', 'oid', 'lfs.oid', 'lfs.size', 'lfs', '');
    await fc.assert(
      fc.asyncProperty(field, strange, async (name, value) => {
        hub.listing = () => {
          const copy = structuredClone(entry) as Record<string, unknown>;
          if (name === '') return value;
          if (name.startsWith('lfs.')) (copy['lfs'] as Record<string, unknown>)[name.slice(4)] = value;
          else copy[name] = value;
          return [copy];
        };
        const outcome = await pullAll(registry, REF, {
          ...hub.access,
          retries: { tries: 1, firstDelayMs: 1, longestDelayMs: 1 },
        }).then(
          () => null,
          (error: unknown) => error,
        );
        if (outcome === null) await removeModel(registry, `${REF}:Q4_0`);
        else expect(isSvcError(outcome) && outcome.code !== 'internal', String(outcome)).toBe(true);
        expect(await registry.list()).toEqual([]);
        expect(await readdir(registry.store.paths.blobs)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('may offer archives, but only GGUF files are ever taken', async () => {
    const hub = await startFakeHub({ 'a.zip': chatBytes(), 'b.tar': chatBytes(), 'c.gguf.gz': chatBytes() });
    await expect(pullAll(await temporaryRegistry(), REF, hub.access)).rejects.toMatchObject({
      code: 'quant_not_found',
    });
    const zipped = await startFakeHub({ 'a-Q4_0.gguf': gzipSync(chatBytes()) });
    await expect(pullAll(await temporaryRegistry(), REF, zipped.access)).rejects.toThrow('archive');
  });
});

describe('a revision', () => {
  it('that is no commit is refused', async () => {
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes() });
    const registry = await temporaryRegistry({ home: await temporaryFolder() });
    for (const targetCommit of ['main', '../..', '', `${'a'.repeat(40)}/../..`, null]) {
      hub.onHub = (_request, response, url) => {
        if (!url.pathname.endsWith('/refs')) return false;
        sendJson(response, { branches: [{ name: 'main', targetCommit }] });
        return true;
      };
      await expect(pullAll(registry, REF, hub.access)).rejects.toMatchObject({ code: 'hub_invalid' });
    }
  });
});
