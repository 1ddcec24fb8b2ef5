/** Tests that cannot run in a place: each says so in its title or by `context.skip`, and vitest prints one line a reason. */
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

/** The end of a title: empty where the test runs, else the reason why it does not. */
export const leftOut = (isHere: boolean, reason: string): string => (isHere ? '' : ` (left out: ${reason})`);

interface Group {
  count: number;
  readonly files: Set<string>;
}

export class LeftOutReporter implements Reporter {
  #isFiltered = false;
  #root = '';

  onInit({ config }: Vitest): void {
    this.#isFiltered = config.testNamePattern !== undefined;
    this.#root = config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // Tests that the user did not ask for are skipped, too.
    if (this.#isFiltered) return;
    const groups = new Map<string, Group>();
    for (const module of modules) this.#collect(module, groups);
    for (const [reason, { count, files }] of groups) {
      const tests = `${count} ${count === 1 ? 'test' : 'tests'} of ${[...files].join(', ')}`;
      process.stdout.write(`Left out: ${tests}: ${reason}\n`);
    }
  }

  #collect(module: TestModule, groups: Map<string, Group>): void {
    for (const test of module.children.allTests('skipped')) {
      const reason = reasonOf(test);
      const group = groups.get(reason) ?? { count: 0, files: new Set<string>() };
      group.count += 1;
      group.files.add(relative(this.#root, module.moduleId));
      groups.set(reason, group);
    }
  }
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  const inTitle = /\(left out: ([^)]*)\)/.exec(test.fullName)?.[1];
  return note ?? inTitle ?? 'it is not for this system, or its data is not here';
}
