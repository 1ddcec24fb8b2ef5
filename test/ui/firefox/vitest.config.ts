import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The page in Firefox by WebDriver BiDi: npm run test:firefox. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../../..', import.meta.url)),
    include: ['test/ui/firefox/*.firefox.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: 'test/support/tiny-models.ts',
  },
});
