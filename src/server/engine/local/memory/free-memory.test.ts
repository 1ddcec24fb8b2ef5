import { describe, expect, it } from 'vitest';
import { availableInVmStat } from './free-memory.ts';

/** The form in which macOS 14 prints it on Apple silicon. */
const VM_STAT = `Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               10000.
Pages active:                            300000.
Pages inactive:                          200000.
Pages speculative:                         5000.
Pages throttled:                              0.
Pages wired down:                        100000.
Pages purgeable:                           1000.
"Translation faults":                 123456789.
`;

describe('the free memory of a Mac', () => {
  it('counts what the system gives away on demand', () => {
    expect(availableInVmStat(VM_STAT)).toBe(16_384 * (10_000 + 200_000 + 5_000 + 1_000));
  });

  it('is unknown where the listing is not the expected one', () => {
    expect(availableInVmStat(VM_STAT.replace('Pages inactive', 'Pages idle'))).toBeNull();
    expect(availableInVmStat('')).toBeNull();
  });
});
