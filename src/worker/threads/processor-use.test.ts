import { expect, it } from 'vitest';
import { linuxBusyMs, OthersUse } from './processor-use.ts';

it('what others use is what the machine did beyond this process', () => {
  let busyMs = 1_000;
  const others = new OthersUse(() => busyMs);
  expect(others.cores(0, 100)).toBeNull();
  busyMs += 1_500;
  expect(others.cores(1_000, 600)).toBe(1);
  // Within half a second the kernel's clock would have ticked too rarely.
  busyMs += 300;
  expect(others.cores(1_300, 900)).toBe(1);
  busyMs += 700;
  expect(others.cores(2_000, 1_600)).toBe(0);
});

it('is not known where nobody says', () => {
  expect(new OthersUse(() => null).cores(0, 0)).toBeNull();
  expect(linuxBusyMs('something else')).toBeNull();
});

it('counts what computes and what the host took, not what waits', () => {
  expect(linuxBusyMs('cpu  1 2 3 1000 1000 4 5 6 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n')).toBe(210);
});
