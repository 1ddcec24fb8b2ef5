import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from './config.ts';
import { followConfig } from './live-config.ts';

function following(env: Record<string, string> = {}) {
  const SVC_HOME = mkdtempSync(path.join(tmpdir(), 'hearth-live-'));
  const read = () => loadConfig({ flags: {}, env: { SVC_HOME, ...env }, dev: false });
  const write = (text: string) => writeFileSync(path.join(SVC_HOME, 'config.toml'), text);
  return { ...followConfig(read(), read), write };
}

it('takes live settings over at once, and names the others until a restart', () => {
  const { config, reload, write } = following();
  write('keep_alive = "1h"\nport = 9000\nallowed_hosts = ["box"]');
  expect(reload()).toEqual({ changed: ['keepAliveMs', 'allowedHosts'], afterRestart: ['port'] });
  expect([config.keepAliveMs, config.allowedHosts, config.port]).toEqual([3_600_000, ['box'], 8740]);
  expect(reload()).toEqual({ changed: [], afterRestart: ['port'] });
  write('');
  expect(reload()).toEqual({ changed: ['keepAliveMs', 'allowedHosts'], afterRestart: [] });
  expect([config.keepAliveMs, config.allowedHosts]).toEqual([300_000, []]);
});

it('changes nothing when the file is broken, or when the environment says otherwise', () => {
  const { config, reload, write } = following({ SVC_MAX_QUEUE: '7' });
  write('max_queue = 9');
  expect(reload()).toEqual({ changed: [], afterRestart: [] });
  write('keep_alive = "1h"\nmax_queue = [');
  expect(reload).toThrow(/line 2/);
  expect([config.maxQueue, config.keepAliveMs]).toEqual([7, 300_000]);
});
