/**
 * V8 optimises a function only after thousands of calls, which suits long computations. A local service gets few
 * requests, so nearly all of them would run in the interpreter, at up to twice the latency.
 */
import v8 from 'node:v8';

const BY_CALLS: readonly string[] = [
  '--invocation-count-for-maglev=50',
  '--invocation-count-for-turbofan=300',
  '--minimum-invocations-after-ic-update=50',
];

/** By V8's major version: those of Node 20, 22 and 24. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  11: ['--interrupt-budget=4000', '--ticks-before-optimization=1'],
  12: BY_CALLS,
  13: BY_CALLS,
};

/** Empty for an unmeasured version, because V8 prints unknown options to standard error. */
export function earlyOptions(version: string): readonly string[] {
  const [major = ''] = version.split('.');
  return OPTIONS[major] ?? [];
}

export function compileEarly(): void {
  for (const option of earlyOptions(process.versions.v8)) v8.setFlagsFromString(option);
}
