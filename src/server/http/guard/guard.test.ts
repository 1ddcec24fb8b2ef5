import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownHosts } from '../../../config/listen-address.ts';
import { type AccessFacts, type AccessRules, refuseForeign, whoAsks } from './guard.ts';

const rules: AccessRules = {
  allowedHosts: [],
  allowedOrigins: [],
  allowLocalPages: false,
  allowDockerHost: false,
  apiKey: null,
  ownHosts: () => [],
  needsKey: false,
};
const facts: AccessFacts = {
  host: 'localhost',
  origin: undefined,
  fetchSite: undefined,
  isAnyHost: false,
  isLanding: false,
  authorization: undefined,
  apiKeyHeader: undefined,
  pageToken: undefined,
};
const codeOf = (error: { code: string } | null) => error?.code ?? null;

describe('refuseForeign', () => {
  it('lets nothing in but the loopback names, whatever the text', () => {
    const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webAuthority(), fc.ipV4(), fc.ipV6()), (host) => {
        const refusal = refuseForeign(rules, { ...facts, host });
        expect(refusal === null).toBe(loopback.test(host));
      }),
    );
  });

  it('lets no origin in but that of the Host itself and those listed exactly', () => {
    const listed = { ...rules, allowedOrigins: ['https://chat.example'] };
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.constant('http://localhost')), (origin) => {
        const isOwn = origin === 'http://localhost' || origin === 'https://localhost';
        const refusal = refuseForeign(listed, { ...facts, origin });
        expect(refusal === null).toBe(isOwn || origin === 'https://chat.example');
      }),
    );
  });

  it('believes a browser that says cross-site, and an origin before that', () => {
    expect(codeOf(refuseForeign(rules, { ...facts, fetchSite: 'cross-site' }))).toBe('hidden_origin');
    for (const fetchSite of ['same-origin', 'none'])
      expect(refuseForeign(rules, { ...facts, fetchSite })).toBeNull();

    const listed = { ...rules, allowedOrigins: ['app://obsidian.md'] };
    expect(codeOf(refuseForeign(listed, { ...facts, fetchSite: 'cross-site' }))).toBe('hidden_origin');
    const fromApp = { ...facts, origin: 'app://obsidian.md', fetchSite: 'cross-site' };
    expect(refuseForeign(listed, fromApp)).toBeNull();
  });
});

describe('the address that the service is bound to', () => {
  const names = {
    addresses: ['127.0.0.1', '192.0.2.2', 'fe80::1%eth0', '2001:DB8::2'],
    hostName: 'Box.example',
  };
  const bound = (host: string): AccessRules => ({ ...rules, ownHosts: () => ownHosts(host, names) });
  const isLetIn = (address: string, host: string): boolean =>
    refuseForeign(bound(address), { ...facts, host }) === null;

  it('is an allowed host, with any port', () => {
    for (const [address, host] of [
      ['192.0.2.2', '192.0.2.2:8814'],
      ['127.0.0.2', '127.0.0.2'],
      ['2001:DB8::2', '[2001:db8::2]:80'],
      ['Box.Lan', 'box.lan'],
    ] as const)
      expect([address, isLetIn(address, host)]).toEqual([address, true]);
    for (const host of ['192.0.2.3', 'evil.example', 'box.example', '0.0.0.0'])
      expect([host, isLetIn('192.0.2.2', host)]).toEqual([host, false]);
  });

  it('stands for all addresses and names of the machine, where it is every one', () => {
    for (const address of ['0.0.0.0', '::']) {
      for (const host of [
        '192.0.2.2:1',
        '[fe80::1]',
        '[2001:db8::2]:8',
        'BOX.example',
        'box',
        'box.local:1',
        'localhost',
      ])
        expect([host, isLetIn(address, host)]).toEqual([host, true]);
      for (const host of ['192.0.2.3', 'evil.example', 'other.local', 'x.box.example', 'example'])
        expect([host, isLetIn(address, host)]).toEqual([host, false]);
    }
  });

  it('needs a key where others can reach it, also when there is none', () => {
    expect(codeOf(refuseKey({ ...rules, needsKey: true }, facts))).toBe('unauthorized');
  });
});

describe('a link of another site', () => {
  it('may lead to the page, and to nothing under another name or of another origin', () => {
    const landing = { ...facts, fetchSite: 'cross-site', isLanding: true };
    expect(refuseForeign(rules, landing)).toBeNull();
    expect(codeOf(refuseForeign(rules, { ...landing, host: 'evil.example' }))).toBe('forbidden_host');
    expect(codeOf(refuseForeign(rules, { ...landing, origin: 'https://evil.example' }))).toBe(
      'forbidden_origin',
    );
  });
});

describe('the switch for local pages', () => {
  const open = { ...rules, allowLocalPages: true };
  it.each([
    'http://localhost:3000',
    'https://localhost',
    'http://127.0.0.1:5173',
    'http://[::1]:8080',
    'http://tauri.localhost',
    'app://obsidian.md',
    'app://.',
    'tauri://localhost',
    'vscode-webview://0a1b2c',
    'vscode-file://vscode-app',
  ])('lets %s in, which is refused without it by a sentence that names it', (origin) => {
    expect(refuseForeign(open, { ...facts, host: 'localhost:8740', origin })).toBeNull();
    const refusal = refuseForeign(rules, { ...facts, host: 'localhost:8740', origin });
    expect([codeOf(refusal), refusal?.message]).toEqual([
      'forbidden_origin',
      expect.stringContaining('SVC_ALLOW_LOCAL_PAGES=1'),
    ]);
  });

  it.each([
    'null',
    'file://',
    'https://localhost.evil.example',
    'https://evil.example',
    'http://localhost@evil.example',
    'http://localhost:3000/path',
    'http://evil.example#localhost',
    'http://127.0.0.1.evil.example',
    'http://10.0.0.1',
    'chrome-extension://abcdef',
    'app://a b',
    'http://localhost\n',
  ])('keeps %j out', (origin) => {
    const refusal = refuseForeign(open, { ...facts, origin });
    expect(codeOf(refusal)).toBe('forbidden_origin');
    expect(refusal?.message).not.toContain('SVC_ALLOW_LOCAL_PAGES');
  });
});

describe('the switch for containers', () => {
  const open = { ...rules, allowDockerHost: true };
  it.each(['host.docker.internal', 'host.docker.internal:8740', 'Host.Containers.Internal:1'])(
    'lets the Host %s in, which is refused without it by a sentence that names it',
    (host) => {
      expect(refuseForeign(open, { ...facts, host })).toBeNull();
      expect(refuseForeign(rules, { ...facts, host })?.message).toContain('SVC_ALLOW_DOCKER_HOST=1');
    },
  );

  it('lets no other name in', () => {
    for (const host of ['docker.internal', 'x.host.docker.internal', 'host.docker.internal.evil.example'])
      expect(codeOf(refuseForeign(open, { ...facts, host }))).toBe('forbidden_host');
  });
});

describe('the remedy for a page that is refused', () => {
  const messageOf = (page: Partial<AccessFacts>) => refuseForeign(rules, { ...facts, ...page })?.message;

  it('is a setting where the browser names the origin, and to have it named where it does not', () => {
    expect(messageOf({ origin: 'https://chat.example' })).toMatch(
      /"https:\/\/chat\.example".*SVC_ALLOWED_ORIGINS/,
    );
    const hidden = messageOf({ fetchSite: 'cross-site' });
    expect(hidden).toContain('without an Origin');
    expect(hidden).toContain('fetch in its default mode');
    expect(hidden).not.toMatch(/SVC_ALLOWED_ORIGINS|cross-site/);
  });
});

const noKeys = { hasKeys: false, findHolder: () => null };

function refuseKey(rules: AccessRules, facts: AccessFacts) {
  const asker = whoAsks(rules, noKeys, facts);
  return 'refusal' in asker ? asker.refusal : null;
}

describe('the key of the service', () => {
  const locked = { ...rules, apiKey: 'correct horse' };

  it('opens for the key alone, whatever else is offered', () => {
    expect(refuseKey(locked, { ...facts, authorization: 'Bearer correct horse' })).toBeNull();
    expect(refuseKey(locked, { ...facts, apiKeyHeader: 'correct horse' })).toBeNull();
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (offered) => {
        fc.pre(offered !== 'correct horse');
        expect(codeOf(refuseKey(locked, { ...facts, apiKeyHeader: offered }))).toBe('unauthorized');
        const authorization = `Bearer ${offered}`;
        fc.pre(offered.trim() !== 'correct horse');
        expect(codeOf(refuseKey(locked, { ...facts, authorization }))).toBe('unauthorized');
      }),
    );
  });

  it('takes the bearer token, not the header beside it, when both are sent', () => {
    const both = { ...facts, authorization: 'Bearer wrong', apiKeyHeader: 'correct horse' };
    expect(codeOf(refuseKey(locked, both))).toBe('unauthorized');
  });

  it('asks for nothing when no key is set', () => {
    expect(refuseKey(rules, facts)).toBeNull();
  });
});
