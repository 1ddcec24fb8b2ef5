/**
 * lib/seal owns giving up rights permanently: network connections and unrelated files. It knows nothing of servers or
 * models. This file: the required kernel calls.
 */
import { supportedPlatform } from './syscall-filter.ts';

type Argument = number | bigint | Buffer | null;

export interface Kernel {
  call(number: number, ...args: Argument[]): number;
  must(result: number, name: string): number;
  /** Sets no_new_privs, which either restriction requires; child processes can never gain rights. */
  forbidPrivileges(): void;
  /** Installs the filter for every thread; false if the kernel or processor does not support it. */
  filterCalls(program: Buffer): boolean;
  /** Executes another program with these descriptors open; returns only on failure. */
  becomeProgram(program: Program): never;
}

interface Program {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly descriptors: readonly number[];
}

const NO_NEW_PRIVILEGES = 38;
const SET_FILTER = 1;
const ALL_THREADS = 1;
const SET_DESCRIPTOR_FLAGS = 2;

/** Null without such calls. Loaded on demand, because nothing else here is native. */
export async function openKernel(): Promise<Kernel | null> {
  const platform = supportedPlatform(process.platform, process.arch);
  if (platform === null) return null;
  const { default: koffi } = await import('koffi');
  const libc = koffi.load(null);
  const call4 = libc.func('syscall', 'long', ['long', 'intptr_t', 'intptr_t', 'intptr_t', 'intptr_t']);
  const prctl = libc.func('prctl', 'int', ['int', 'ulong', 'ulong', 'ulong', 'ulong']);
  const fcntl = libc.func('fcntl', 'int', ['int', 'int', 'int']);
  const execve = libc.func('execve', 'int', ['str', 'const char **', 'const char **']);
  const must = (result: number, name: string): number => {
    if (result < 0) throw new Error(`${name} failed (errno ${koffi.errno()})`);
    return result;
  };
  const address = (value: Argument): number | bigint => {
    if (value === null) return 0;
    return Buffer.isBuffer(value) ? koffi.address(value) : value;
  };
  const call = (number: number, ...args: Argument[]): number => {
    const [a = 0, b = 0, c = 0, d = 0] = args.map(address);
    return Number(call4(number, a, b, c, d));
  };
  const forbidPrivileges = (): void => {
    must(prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) as number, 'prctl');
  };
  return {
    call,
    must,
    forbidPrivileges,
    filterCalls: (program) => {
      forbidPrivileges();
      // struct sock_fprog: length, padding, address of the instructions.
      const list = Buffer.alloc(16);
      list.writeUInt16LE(program.length / 8, 0);
      list.writeBigUInt64LE(BigInt(koffi.address(program)), 8);
      return call(platform.seccomp, SET_FILTER, ALL_THREADS, list) === 0;
    },
    becomeProgram: ({ path, args, env, descriptors }) => {
      for (const descriptor of descriptors) fcntl(descriptor, SET_DESCRIPTOR_FLAGS, 0);
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      execve(path, [...args, null], [...variables, null]);
      throw new Error(`${path} could not be started (errno ${koffi.errno()})`);
    },
  };
}
