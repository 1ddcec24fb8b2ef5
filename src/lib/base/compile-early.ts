/**
 * V8 compiles a function well only after thousands of calls, which suits programs that compute for long. A local service is
 * asked now and then: nearly all that it ever answers would run in the interpreter, at up to twice the latency.
 */
import v8 from 'node:v8';

const BY_CALLS: readonly string[] = [
  '--invocation-count-for-maglev=50',
  '--invocation-count-for-turbofan=300',
  '--minimum-invocations-after-ic-update=50',
];

/** By the major version of V8; those of Node 20, 22 and 24. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  11: ['--interrupt-budget=4000', '--ticks-before-optimization=1'],
  12: BY_CALLS,
  13: BY_CALLS,
};

/** Empty for a version that was not measured: V8 complains on standard error of options that it does not know. */
export function earlyOptions(version: string): readonly string[] {
  const [major = ''] = version.split('.');
  return OPTIONS[major] ?? [];
}

/** From now on functions of this process are compiled after hundreds of calls. */
export function compileEarly(): void {
  for (const option of earlyOptions(process.versions.v8)) v8.setFlagsFromString(option);
}
