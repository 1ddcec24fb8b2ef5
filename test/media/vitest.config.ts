import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What needs libmtmd, which is compiled once: npm run test:media. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/media/*.media.ts'],
    testTimeout: 300_000,
    hookTimeout: 1_800_000,
    // The native library and its layouts are registered once for a process.
    pool: 'forks',
    fileParallelism: false,
    globalSetup: ['test/support/tiny-models.ts', 'test/media/built-media.ts'],
  },
});
