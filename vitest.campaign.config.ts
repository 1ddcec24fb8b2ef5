import { defineConfig } from 'vitest/config';

/** `npm run campaign`: one scenario at a time, so that each has the machine to itself. */
export default defineConfig({
  test: {
    include: ['test/campaign/*/*.campaign.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 180_000,
    globalSetup: 'test/support/tiny-models.ts',
  },
});
