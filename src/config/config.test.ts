import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { examineConfig, loadConfig, requireKeyForBind, unknownVariables } from './config.ts';
import { settings } from './settings.ts';
import { clientHost, serviceOrigin, parseListenAddress } from './listen-address.ts';

const home = () => mkdtempSync(path.join(tmpdir(), 'hearth-config-'));
const load = (env: Record<string, string>, flags = {}, dev = false) => loadConfig({ flags, env, dev });

describe('loadConfig', () => {
  it('prefers flag, then environment, then file, then default, and remembers the origin', () => {
    const SVC_HOME = home();
    writeFileSync(
      path.join(SVC_HOME, 'config.toml'),
      'max_queue = 7\nkeep_alive = "1h30m"\nnum_ctx = 4096\n',
    );
    const config = load({ SVC_HOME, SVC_MAX_QUEUE: '8', SVC_NUM_CTX: '2048' }, { maxQueue: '9' });
    expect([config.maxQueue, config.origins.maxQueue]).toEqual([9, 'flag']);
    expect([config.numCtx, config.origins.numCtx]).toEqual([2048, 'environment']);
    expect([config.keepAliveMs, config.origins.keepAliveMs]).toEqual([5_400_000, 'file']);
    expect([config.port, config.origins.port]).toEqual([8740, 'default']);
  });

  it('names the setting that is wrong', () => {
    expect(() => load({ SVC_HOME: home(), SVC_MAX_QUEUE: 'many' })).toThrow(/SVC_MAX_QUEUE/);
    const SVC_HOME = home();
    writeFileSync(path.join(SVC_HOME, 'config.toml'), 'max_que = 7');
    expect(() => load({ SVC_HOME })).toThrow(/no setting "max_que".*Did you mean max_queue\?/);
  });

  it('refuses a home in the file that lies in the home', () => {
    const SVC_HOME = home();
    writeFileSync(path.join(SVC_HOME, 'config.toml'), 'home = "/elsewhere"');
    expect(() => load({ SVC_HOME })).toThrow(
      /config\.toml, line 1: home cannot be set here.* use SVC_HOME or --home/,
    );
  });

  it('says where in the file a mistake is, and goes on with the default when it only examines', () => {
    const SVC_HOME = home();
    const file = path.join(SVC_HOME, 'config.toml');
    writeFileSync(
      file,
      '# mine\nport = 9000\n\nmax_queue = "many"\n "keep_alive" = "5 parsecs"\nbogus = 1\n',
    );
    const { config, problems } = examineConfig({ flags: {}, env: { SVC_HOME }, dev: false });
    expect(problems.map(({ message }) => message.replace(file, 'FILE').replace(/ must be .*/, ' …'))).toEqual(
      [
        'FILE, line 6: there is no setting "bogus"; write those of hearth config without SVC_ and in lower case.',
        'FILE, line 5: keep_alive …',
        'FILE, line 4: max_queue …',
      ],
    );
    expect([config.port, config.maxQueue, config.origins.maxQueue]).toEqual([9000, 256, 'default']);
    expect(() => load({ SVC_HOME })).toThrow(/line 6.* line 5.* line 4/);
  });

  it.each([
    ['SVC_PORT = 9056', 'line 1: write port instead of SVC_PORT.'],
    ['svc_max_que = 1', 'lower case. Did you mean max_queue?'],
    ['# one\n[server]\nport = 1', 'line 2: this file has no tables such as [server]; write each'],
    ['[cache_disk]\nsize = 1', 'no tables such as [cache_disk]'],
    ['[[server]]\nport = 1', 'line 1: this file has no tables'],
  ])('says how to write %j', (text, sentence) => {
    const SVC_HOME = home();
    writeFileSync(path.join(SVC_HOME, 'config.toml'), text);
    expect(() => load({ SVC_HOME })).toThrow(sentence);
  });

  it('points at the place where the file is no TOML', () => {
    const SVC_HOME = home();
    writeFileSync(path.join(SVC_HOME, 'config.toml'), 'port = 9000\nhost = "x\n');
    expect(() => load({ SVC_HOME })).toThrow(/config\.toml, line 2, column 10: this is not valid TOML/);
  });

  it('finds variables that look like settings and are none', () => {
    const env = { SVC_KEEPALIVE: '1', SVC_PORT: '1', SVC_PARENT_PID: '1', PATH: '/' };
    expect(unknownVariables(env)).toEqual([
      'The environment variable SVC_KEEPALIVE is not a setting. Did you mean SVC_KEEP_ALIVE?',
    ]);
  });

  it('says of a port that stands in the host where it came from', () => {
    const SVC_HOME = home();
    const origin = (env: Record<string, string>, flags = {}) => {
      const { port, origins } = load({ SVC_HOME, ...env }, flags);
      return [port, origins.port];
    };
    expect(origin({ SVC_HOST: ':9000' })).toEqual([9000, 'environment']);
    expect(origin({ SVC_HOST: ':9000' }, { host: '[::1]:7' })).toEqual([7, 'flag']);
    expect(origin({ SVC_HOST: ':9000' }, { port: '8' })).toEqual([8, 'flag']);
    expect(origin({ SVC_HOST: '127.0.0.1' })).toEqual([8740, 'default']);
  });

  it('says that a bare number is seconds when a duration is wrong', () => {
    expect(() => load({ SVC_HOME: home(), SVC_KEEP_ALIVE: 'long' })).toThrow(/a bare number is seconds/);
  });

  it('shows every default so that it reads as the same value', () => {
    const { keepAliveMs, drainTimeoutMs, streamHeadAfterMs, loadTimeoutMs } = settings;
    const shown = [keepAliveMs, drainTimeoutMs, streamHeadAfterMs, loadTimeoutMs].map(
      (setting) => setting.show?.(setting.fallback) ?? '',
    );
    expect(shown).toEqual(['5m', '20s', '3s', '5m']);
    expect(load({ SVC_HOME: home(), SVC_KEEP_ALIVE: shown[0] ?? '' }).keepAliveMs).toBe(keepAliveMs.fallback);
  });

  it('keeps the development endpoint apart from the canonical one', () => {
    const SVC_HOME = home();
    const dev = load({ SVC_HOME }, {}, true);
    expect(dev.port).toBe(8741);
    expect(dev.home).not.toBe(load({ SVC_HOME }).home);
  });

  it('refuses a bind that others can reach unless a key is set', () => {
    const SVC_HOME = home();
    expect(() => requireKeyForBind(load({ SVC_HOME, SVC_HOST: '0.0.0.0' }), false)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        detail: expect.objectContaining({ param: 'SVC_HOST' }),
      }),
    );
    const isRefused = (env: Record<string, string>, hasNamedKeys: boolean): boolean => {
      try {
        requireKeyForBind(load({ SVC_HOME, ...env }), hasNamedKeys);
        return false;
      } catch {
        return true;
      }
    };
    for (const SVC_HOST of ['0.0.0.0', '::', '192.0.2.2', 'box.lan']) {
      expect([SVC_HOST, isRefused({ SVC_HOST }, false)]).toEqual([SVC_HOST, true]);
      expect(isRefused({ SVC_HOST, SVC_API_KEY: 'k' }, false)).toBe(false);
      expect(isRefused({ SVC_HOST }, true)).toBe(false);
    }
    for (const SVC_HOST of ['127.0.0.1', '127.0.0.2', '::1', 'localhost'])
      expect(isRefused({ SVC_HOST }, false)).toBe(false);
  });

  it('reads keep-alive of 0 and of a negative number', () => {
    expect(load({ SVC_HOME: home(), SVC_KEEP_ALIVE: '0' }).keepAliveMs).toBe(0);
    expect(load({ SVC_HOME: home(), SVC_KEEP_ALIVE: '-1' }).keepAliveMs).toBe(Infinity);
  });
});

describe('parseListenAddress', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', undefined],
    [':9000', '127.0.0.1', 9000],
    ['0.0.0.0:9000', '0.0.0.0', 9000],
    ['http://localhost', 'localhost', 80],
    ['https://h.example/path', 'h.example', 443],
    ['"http://localhost:1/x" ', 'localhost', 1],
    ['[::1]:8', '::1', 8],
    ['::1', '::1', undefined],
  ])('reads %s', (text, host, port) => {
    expect(parseListenAddress(text)).toEqual({ host, port });
  });

  it.each(['a b', 'host:99999', 'host:x', 'user@host', '[::1'])('refuses %s', (text) => {
    expect(parseListenAddress(text)).toBeUndefined();
  });

  it('tells a client of a wildcard bind to use loopback', () => {
    expect(serviceOrigin('http', clientHost('0.0.0.0'), 1)).toBe('http://127.0.0.1:1');
    expect(serviceOrigin('http', clientHost('::'), 1)).toBe('http://[::1]:1');
  });
});
