import { expect, it } from 'vitest';
import { asOrdinaryUser } from '../../../test/support/process/other-user.ts';
import { isRunning } from './process-tree.ts';

it('knows processes of other users, and those that are gone', async () => {
  expect(isRunning(process.pid)).toBe(true);
  expect(isRunning(999_999_999)).toBe(false);
  expect(await asOrdinaryUser(async () => isRunning(1))).toBe(true);
});
