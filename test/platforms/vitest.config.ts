import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Every platform's headers and libraries against Hearth's declarations, on one machine: npm run test:platforms. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/platforms/*.platforms.ts'],
    testTimeout: 120_000,
    // The first run downloads about 240 MB.
    hookTimeout: 1_200_000,
  },
});
