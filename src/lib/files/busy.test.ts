import { describe, expect, it } from 'vitest';
import { untilFree } from './busy.ts';

const failing = (code: string, times: number) => {
  let calls = 0;
  const operation = async (): Promise<string> => {
    calls += 1;
    if (calls <= times) throw Object.assign(new Error(code), { code });
    return 'done';
  };
  return { operation, calls: () => calls };
};

const waiting = (platform: string) => {
  const pauses: number[] = [];
  return { platform, pauses, pause: async (ms: number) => void pauses.push(ms) };
};

describe('a file that another program has open', () => {
  it.each(['EBUSY', 'EPERM', 'EACCES'])('is tried again on Windows after %s', async (code) => {
    const windows = waiting('win32');
    expect(await untilFree(failing(code, 3).operation, windows)).toBe('done');
    expect(windows.pauses).toEqual([10, 20, 40]);
  });

  it('is given up after a bounded time, with the reason that the system gave', async () => {
    const windows = waiting('win32');
    const { operation, calls } = failing('EPERM', 100);
    await expect(untilFree(operation, windows)).rejects.toMatchObject({ code: 'EPERM' });
    expect(calls()).toBe(windows.pauses.length + 1);
    expect(windows.pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(2_000);
  });

  it('is tried once where the failure is another one, and on other systems', async () => {
    for (const [code, platform] of [
      ['ENOENT', 'win32'],
      ['EPERM', 'linux'],
      ['EBUSY', 'darwin'],
    ] as const) {
      const system = waiting(platform);
      await expect(untilFree(failing(code, 1).operation, system)).rejects.toMatchObject({ code });
      expect(system.pauses).toEqual([]);
    }
  });
});
