import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What needs programs that npm does not bring: npm run test:engines. CONTRIBUTING.md says how they are found. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/real-engines/*.engines.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    fileParallelism: false,
    globalSetup: 'test/support/tiny-models.ts',
  },
});
