/**
 * Entry of a sealed worker: it gives up access to all other files, then becomes main.ts in the same process. The
 * restriction holds only for threads that begin after it, and Node has some running by now: hence the new program.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtFile, packageFolder } from '../lib/base/package-folder.ts';
import { openKernel } from '../lib/seal/kernel.ts';
import { restrictFiles } from '../lib/seal/landlock.ts';
import { guardSockets } from '../lib/seal/socket-guard.ts';

/** System files that Node, the C library and llama.cpp read. */
const SYSTEM = ['/usr', '/lib', '/lib64', '/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d'];
const ABOUT_THE_MACHINE = [
  '/proc',
  '/sys',
  '/etc/localtime',
  '/etc/ssl',
  '/etc/os-release',
  '/etc/nsswitch.conf',
];
const HARMLESS_DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom'];
/** Not the whole package folder: a home may be inside. */
const OF_THE_PACKAGE = ['dist', 'models', 'package.json'];
const OF_GPUS = { read: ['/etc', '/opt', '/run', '/var/lib'], devices: ['/dev'] };
const DESCRIPTORS = [0, 1, 2, 3];
const CHANNEL = 3;

const main = builtFile('worker/main.js');
const kernel = await openKernel();
if (kernel === null || !restrictFiles(kernel, rights())) {
  // Runs before any package is loaded. If the kernel has a filter, the server's applies here anyway.
  guardSockets();
  await import('./main.ts');
} else {
  kernel.becomeProgram({
    path: process.execPath,
    args: [process.execPath, ...process.execArgv, main],
    env: {
      ...definedVariables(process.env),
      // Node took these from the environment when it opened the channel.
      NODE_CHANNEL_FD: String(CHANNEL),
      NODE_CHANNEL_SERIALIZATION_MODE: 'advanced',
    },
    descriptors: DESCRIPTORS,
  });
}

function rights() {
  const {
    SVC_READABLE: models = '[]',
    SVC_WRITABLE: caches = '[]',
    SVC_LIBRARIES: libraries,
    SVC_GPU: gpu,
  } = process.env;
  const hasGpu = gpu !== 'off';
  return {
    read: [
      ...SYSTEM,
      ...ABOUT_THE_MACHINE,
      process.execPath,
      ...OF_THE_PACKAGE.map((name) => join(packageFolder, name)),
      modulesFolder(),
      ...(libraries === undefined ? [] : [libraries]),
      ...(JSON.parse(models) as string[]),
      ...(hasGpu ? OF_GPUS.read : []),
    ],
    write: JSON.parse(caches) as string[],
    list: ['/dev'],
    devices: hasGpu ? OF_GPUS.devices : HARMLESS_DEVICES,
  };
}

function modulesFolder(): string {
  const file = fileURLToPath(import.meta.resolve('koffi'));
  return file.slice(0, file.lastIndexOf('node_modules') + 'node_modules'.length);
}

function definedVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}
