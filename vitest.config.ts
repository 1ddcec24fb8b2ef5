import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LeftOutReporter } from './test/support/left-out.ts';

/** They replace modules of Node, which the files after them must not find replaced. */
const REPLACING = ['src/store/files/installed.test.ts', 'src/lib/files/durable.test.ts'];

/** Begun first, so that none of them runs on alone at the end; the longest first. */
const LONG = [
  'test/e2e/package.test.ts',
  'test/e2e/frozen-service.test.ts',
  'test/e2e/lifecycle.test.ts',
  'test/e2e/forged-records.test.ts',
  'test/fault/store/crash.test.ts',
  'test/e2e/',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = LONG.findIndex((part) => moduleId.includes(`/${part}`));
      return found === -1 ? LONG.length : found;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

const shared = {
  // They end what hangs, and say nothing of speed: a busy machine may be ten times slower.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
  pool: 'forks' as const,
  // What the build makes of schemas is loaded as it is.
  server: { deps: { external: [/\/dist\//] } },
};

export default defineConfig({
  test: {
    // Tests of processes mostly wait for them; alone, they would leave a core of two idle.
    maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
    globalSetup: 'test/support/tiny-models.ts',
    reporters: ['default', new LeftOutReporter()],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['{src,packages,ui,tools,bench}/**/*.test.ts'],
          exclude: REPLACING,
          // They leave nothing behind, and loading the same modules for each file is most of their time.
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'whole',
          include: ['test/**/*.test.ts', ...REPLACING],
          // In a browser, by vitest.ui.config.ts.
          exclude: ['test/ui/**'],
        },
      },
    ],
  },
});
