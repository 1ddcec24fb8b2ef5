/** One pool of compute threads for all contexts of the process. Without one, ggml starts its threads anew for every step. */
import koffi from 'koffi';
import type { Pointer, ThreadpoolParams } from './layouts.ts';
import type { Library } from './open.ts';
import { cpuDevice } from './devices.ts';

/** Waiting threads spin a little and then sleep; more steals time from the server on few cores. */
const POLL = 0;

/** Null where the CPU library offers no pool, or the process may not start its threads. */
export function openThreadpool(library: Library, threads: number): Pointer | null {
  const device = cpuDevice(library);
  if (device === null || threads < 2) return null;
  const registry = library.ggml_backend_dev_backend_reg(device);
  const open = library.ggml_backend_reg_get_proc_address(registry, 'ggml_threadpool_new');
  if (open === null) return null;
  const params: Partial<ThreadpoolParams> = {};
  library.ggml_threadpool_params_init(params, threads);
  const create = koffi.proto('void* ggml_threadpool_new(ggml_threadpool_params* params)');
  return koffi.call(open, create, { ...params, poll: POLL }) as Pointer | null;
}
