/** The filters as the kernel would run them, over the calls of both instruction sets, whichever this machine has. */
import { describe, expect, it } from 'vitest';
import { type Filter, filterProgram, supportedPlatform } from './syscall-filter.ts';

const ALLOW = 0x7fff_0000;
const DENY = 0x0005_000d;

/** As the headers of the kernel number them: asm/unistd_64.h, and asm-generic/unistd.h for arm64. */
const CALLS = {
  x64: {
    auditArch: 0xc000_003e,
    read: 0,
    accept4: 288,
    socket: 41,
    connect: 42,
    sendto: 44,
    sendmsg: 46,
    sendmmsg: 307,
    ptrace: 101,
    process_vm_writev: 311,
    io_uring_setup: 425,
    pidfd_getfd: 438,
  },
  arm64: {
    auditArch: 0xc000_00b7,
    read: 63,
    accept4: 242,
    socket: 198,
    connect: 203,
    sendto: 206,
    sendmsg: 211,
    sendmmsg: 269,
    ptrace: 117,
    process_vm_writev: 271,
    io_uring_setup: 425,
    pidfd_getfd: 438,
  },
} as const;
type Arch = keyof typeof CALLS;
type Call = Exclude<keyof (typeof CALLS)[Arch], 'auditArch'>;

const FASTOPEN = 0x2000_0000;
const NONBLOCK = 0o4000;
const [INET, INET6, NETLINK] = [2, 10, 16];
const [STREAM, DATAGRAM, RAW] = [1, 2, 3];
const ALWAYS_DENIED = ['connect', 'ptrace', 'process_vm_writev', 'io_uring_setup', 'pidfd_getfd'] as const;

describe.each(Object.keys(CALLS) as Arch[])('on %s', (arch) => {
  const verdict = (filter: Filter, call: Call, args: readonly number[] = []): number =>
    run(programOf(arch, filter), { number: CALLS[arch][call], arch: CALLS[arch].auditArch, args });

  it.each(['listening', 'closed'] as const)('while %s, no call leads out', (filter) => {
    for (const call of ALWAYS_DENIED) expect(verdict(filter, call), call).toBe(DENY);
    expect(verdict(filter, 'sendto', [9, 0, 1, FASTOPEN])).toBe(DENY);
    expect(verdict(filter, 'sendmsg', [9, 0, FASTOPEN])).toBe(DENY);
    expect(verdict(filter, 'sendmmsg', [9, 0, 1, FASTOPEN])).toBe(DENY);
  });

  it.each(['listening', 'closed'] as const)('while %s, what answers is allowed', (filter) => {
    for (const call of ['read', 'accept4', 'sendto', 'sendmsg', 'sendmmsg'] as const)
      expect(verdict(filter, call), call).toBe(ALLOW);
  });

  it('makes sockets of TCP until it listens, and none of any other kind', () => {
    for (const family of [INET, INET6]) {
      expect(verdict('listening', 'socket', [family, STREAM | NONBLOCK, 0])).toBe(ALLOW);
      expect(verdict('listening', 'socket', [family, STREAM, 6])).toBe(ALLOW);
      expect(verdict('listening', 'socket', [family, STREAM, 132])).toBe(DENY);
      for (const type of [DATAGRAM, RAW, DATAGRAM | NONBLOCK])
        expect(verdict('listening', 'socket', [family, type, 0]), String(type)).toBe(DENY);
    }
    expect(verdict('listening', 'socket', [NETLINK, RAW, 0])).toBe(ALLOW);
    expect(verdict('closed', 'socket', [INET, STREAM, 0])).toBe(DENY);
    expect(verdict('closed', 'socket', [NETLINK, RAW, 0])).toBe(DENY);
  });

  it('denies every call of another instruction set', () => {
    const other = CALLS[arch === 'x64' ? 'arm64' : 'x64'].auditArch;
    const program = programOf(arch, 'closed');
    expect(run(program, { number: CALLS[arch].read, arch: other, args: [] })).toBe(DENY);
  });
});

it('denies the second set of calls that x64 has', () => {
  const { auditArch, connect, read } = CALLS.x64;
  for (const call of [connect, read]) {
    const verdict = run(programOf('x64', 'closed'), {
      number: 0x4000_0000 + call,
      arch: auditArch,
      args: [],
    });
    expect(verdict).toBe(DENY);
  }
});

it('has no filter elsewhere', () => {
  expect([
    supportedPlatform('darwin', 'arm64'),
    supportedPlatform('win32', 'x64'),
    supportedPlatform('linux', 'arm'),
  ]).toEqual([null, null, null]);
});

function programOf(arch: Arch, filter: Filter): Buffer {
  const platform = supportedPlatform('linux', arch);
  if (platform === null) throw new Error(`there is no filter for ${arch}`);
  return filterProgram(platform, filter);
}

/** The kernel's machine, as far as filters use it. */
function run(
  program: Buffer,
  call: { readonly number: number; readonly arch: number; readonly args: readonly number[] },
): number {
  const memory = Buffer.alloc(64);
  memory.writeUInt32LE(call.number, 0);
  memory.writeUInt32LE(call.arch, 4);
  for (const [index, value] of call.args.entries()) memory.writeUInt32LE(value, 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const code = program.readUInt16LE(at);
    const [yes, no, k] = [program.readUInt8(at + 2), program.readUInt8(at + 3), program.readUInt32LE(at + 4)];
    const jump = (holds: boolean): void => void (at += 8 * (holds ? yes : no));
    if (code === 0x20) accumulator = memory.readUInt32LE(k);
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x15) jump(accumulator === k);
    else if (code === 0x35) jump(accumulator >= k);
    else if (code === 0x45) jump((accumulator & k) !== 0);
    else if (code === 0x06) return k;
    else throw new Error(`the kernel knows no ${code.toString(16)}`);
  }
  throw new Error('the filter has no end');
}
