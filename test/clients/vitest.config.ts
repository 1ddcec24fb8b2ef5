import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Clients of other languages from their registries: npm run test:clients. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/clients/*.clients.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    fileParallelism: false,
    globalSetup: 'test/support/tiny-models.ts',
  },
});
