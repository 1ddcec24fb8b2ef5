/** The page in a browser: apart from the suite, because not every machine has one. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/ui/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // One browser and one service at a time: there may be two cores.
    fileParallelism: false,
    globalSetup: 'test/support/tiny-models.ts',
  },
});
