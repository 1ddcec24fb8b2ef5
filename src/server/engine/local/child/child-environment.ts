/**
 * Builds the environment of a child from empty. Nothing that makes a program load other code (LD_PRELOAD,
 * NODE_OPTIONS, GGML_BACKEND_PATH, …) and no secret of the server ever gets in.
 */
import { MOST_EMBEDDINGS_AT_ONCE } from '../../../../contract/limits.ts';

/** Variables for caches and devices; everything else of the host is withheld. */
const CARRIED = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'TMPDIR',
  'CUDA_VISIBLE_DEVICES',
  'HIP_VISIBLE_DEVICES',
  'ROCR_VISIBLE_DEVICES',
  'GGML_VK_VISIBLE_DEVICES',
  // Only for tests: counts a software GPU as a GPU.
  'HEARTH_TEST_SOFTWARE_GPU',
];
const CARRIED_ON_WINDOWS = [
  'SystemRoot',
  'windir',
  'ProgramFiles',
  'USERPROFILE',
  'LOCALAPPDATA',
  'TEMP',
  'TMP',
  'CUDA_PATH',
];

export function childEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  { gpu, libraries }: { readonly gpu: string; readonly libraries?: string | undefined },
  platform: string,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
  Object.assign(environment, carriedVariables(host, platform));
  // An abort must end the process at once, not start a debugger on it.
  environment['GGML_NO_BACKTRACE'] = '1';
  // libuv threads load files and compute vectors; all other work uses the library's own threads.
  environment['UV_THREADPOOL_SIZE'] = String(MOST_EMBEDDINGS_AT_ONCE);
  environment['SVC_GPU'] = gpu;
  if (libraries !== undefined) environment['SVC_LIBRARIES'] = libraries;
  // Weights and KV cache in huge pages: a token of one stream takes a tenth less time. Ignored where glibc or the
  // kernel does not support them.
  if (platform === 'linux') environment['GLIBC_TUNABLES'] = 'glibc.malloc.hugetlb=1';
  return environment;
}

export function carriedVariables(
  host: Readonly<Record<string, string | undefined>>,
  platform: string,
): Record<string, string> {
  const carried: Record<string, string> = {};
  const names = platform === 'win32' ? [...CARRIED, ...CARRIED_ON_WINDOWS] : CARRIED;
  for (const name of names) {
    const value = host[name] ?? (platform === 'win32' ? inAnyCase(host, name) : undefined);
    if (value !== undefined) carried[name] = value;
  }
  return carried;
}

/** Windows names it `Path`, and a copy of its environment is case-sensitive. */
function inAnyCase(host: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const key = Object.keys(host).find((each) => each.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : host[key];
}
