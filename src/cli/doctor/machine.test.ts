import { describe, expect, it } from 'vitest';
import { judgeDisk, judgeHugePages, judgeMemory, judgeNode, judgeProcessor } from './machine.ts';
import { examine } from './finding.ts';

const GIB = 2 ** 30;
const memInfo = (available: number): string => `MemTotal: 99 kB\nMemAvailable:   ${available / 1024} kB\n`;

describe('a look at the machine', () => {
  it.each([
    ['20.18.3', 'problem'],
    ['20.19.0', 'ok'],
    ['24.1.0', 'ok'],
    ['18.20.0', 'problem'],
  ])('finds Node %s: %s', (version, verdict) => {
    expect(judgeNode(version).verdict).toBe(verdict);
  });

  it('warns of a processor without AVX2, on x64 only', () => {
    const info = (flags: string) => `flags\t\t: fpu ${flags} sse2\n`;
    const judge = (flags: string, arch = 'x64') => judgeProcessor(info(flags), arch, 'Some CPU', 2);
    expect(judge('avx avx2 f16c')).toMatchObject({
      verdict: 'ok',
      found: 'Some CPU, 2 cores; avx avx2 f16c',
    });
    expect(judge('avx')).toMatchObject({ verdict: 'warning', found: expect.stringContaining('no AVX2') });
    expect(judge('', 'arm64').verdict).toBe('ok');
  });

  it('counts what a control group leaves of the memory', () => {
    expect(judgeMemory(memInfo(8 * GIB), 16 * GIB, 0)).toMatchObject({
      verdict: 'ok',
      found: '8.0 GiB of 16.0 GiB available',
    });
    const limited = judgeMemory(memInfo(8 * GIB), 16 * GIB, 2 * GIB);
    expect(limited.verdict).toBe('warning');
    expect(limited.found).toContain('2.0 GiB of 2.0 GiB available (limited by a control group)');
    // Node says so where there is no limit.
    expect(judgeMemory(memInfo(8 * GIB), 16 * GIB, 2 ** 64).found).not.toContain('limited');
    expect(judgeMemory(null, 16 * GIB, 0).verdict).toBe('ok');
  });

  it('warns of huge pages that are off', () => {
    expect(judgeHugePages('always [madvise] never').verdict).toBe('ok');
    expect(judgeHugePages('always madvise [never]').verdict).toBe('warning');
    expect(judgeHugePages(null).verdict).toBe('ok');
  });

  it('judges a disk by its room, then by its kind', () => {
    expect(judgeDisk(GIB / 4, true).verdict).toBe('problem');
    expect(judgeDisk(GIB, false).verdict).toBe('warning');
    expect(judgeDisk(50 * GIB, true).remedy).toContain('SSD');
    expect(judgeDisk(50 * GIB, false).verdict).toBe('ok');
  });
});

it('a check that fails is a problem of its own, and the others are made', async () => {
  const broken = { about: 'b', look: () => Promise.reject(new Error('no such thing')) };
  const fine = { about: 'a', look: async () => ({ about: 'a', verdict: 'ok', found: 'x' }) as const };
  const [first, second] = await examine([broken, fine]);
  expect(first).toMatchObject({ verdict: 'problem', found: 'could not be checked: no such thing' });
  expect(second?.verdict).toBe('ok');
});
