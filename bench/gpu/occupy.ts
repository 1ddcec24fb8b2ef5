/**
 * node occupy.js LEAVE: takes memory of the first NVIDIA card until LEAVE MiB are free, prints what is free, and holds it
 * until it is killed. By the driver alone, so that nothing of CUDA needs to be installed.
 */
import koffi from 'koffi';

const MIB = 2 ** 20;
const STEP_MIB = 64;

const driver = load();
if (driver === null) process.exit(0);

const call = (name: string, ...args: readonly unknown[]): void => {
  const code: unknown = driver[name as keyof typeof driver](...args);
  if (code !== 0) throw new Error(`${name} returned ${String(code)}`);
};

call('init', 0);
const device = [0];
call('device', device, 0);
const context = [null];
call('retain', context, device[0]);
call('use', context[0]);
const leaveMiB = Number(process.argv[2]);
for (let spare = freeMiB() - leaveMiB; spare >= 2; spare = freeMiB() - leaveMiB) {
  const take = spare > 2 * STEP_MIB ? Math.floor(spare / STEP_MIB) * STEP_MIB - STEP_MIB : 2;
  const pointer = [0n];
  if (driver.allocate(pointer, take * MIB) !== 0) break;
}
console.log(JSON.stringify({ freeMiB: freeMiB() }));
setInterval(() => undefined, 1 << 30);

function freeMiB(): number {
  const free = [0];
  call('free', free, [0]);
  return Math.floor(Number(free[0]) / MIB);
}

function load() {
  try {
    const library = koffi.load('libcuda.so.1');
    return {
      init: library.func('int cuInit(unsigned int)'),
      device: library.func('int cuDeviceGet(_Out_ int *, int)'),
      retain: library.func('int cuDevicePrimaryCtxRetain(_Out_ void **, int)'),
      use: library.func('int cuCtxSetCurrent(void *)'),
      free: library.func('int cuMemGetInfo_v2(_Out_ size_t *, _Out_ size_t *)'),
      allocate: library.func('int cuMemAlloc_v2(_Out_ uint64_t *, size_t)'),
    };
  } catch {
    return null;
  }
}
