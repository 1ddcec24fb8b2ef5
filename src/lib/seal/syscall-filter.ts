/**
 * Seccomp filters of a sealed process (BPF programs): no connections, and no way around. `listening` still permits
 * TCP sockets, for a server that has not bound its port; `closed` permits none. Sockets opened before continue to
 * work: the listener, and the channel to the parent.
 */

export type Filter = 'listening' | 'closed';

interface Platform {
  readonly auditArch: number;
  readonly seccomp: number;
  /** First number of another ABI's calls, all of which are denied. */
  readonly foreignFrom: number | null;
  readonly socket: number;
  /**
   * connect: the direct way. io_uring_setup: creates and connects sockets without system calls. pidfd_getfd, ptrace,
   * process_vm_writev: take a socket of, or write into, an unsealed process.
   */
  readonly denied: readonly number[];
  /** sendto, sendmsg, sendmmsg, each with the index of its flags: MSG_FASTOPEN connects while sending. */
  readonly sending: readonly (readonly [number: number, flagsAt: number])[];
}

const PLATFORMS: Readonly<Record<string, Platform>> = {
  x64: {
    auditArch: 0xc000_003e,
    seccomp: 317,
    foreignFrom: 0x4000_0000,
    socket: 41,
    denied: [42, 425, 438, 101, 311],
    sending: [
      [44, 3],
      [46, 2],
      [307, 3],
    ],
  },
  arm64: {
    auditArch: 0xc000_00b7,
    seccomp: 277,
    foreignFrom: null,
    socket: 198,
    denied: [203, 425, 438, 117, 271],
    sending: [
      [206, 3],
      [211, 2],
      [269, 3],
    ],
  },
};

export function supportedPlatform(platform: string, arch: string): Platform | null {
  return platform === 'linux' ? (PLATFORMS[arch] ?? null) : null;
}

const CODES = { load: 0x20, and: 0x54, equal: 0x15, atLeast: 0x35, anyBit: 0x45, return: 0x06 } as const;
const ALLOW = 0x7fff_0000;
const EACCES = 13;
const DENY = 0x0005_0000 | EACCES;
const INSTRUCTION_BYTES = 8;
const AT_NUMBER = 0;
const AT_ARCH = 4;
const atArgument = (index: number): number => 16 + 8 * index;

const TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const ANY_PROTOCOL = 0;
const TCP = 6;
/** Queries the machine's own interfaces; it reaches no network. */
const AF_NETLINK = 16;
const MSG_FASTOPEN = 0x2000_0000;

type Verdict = 'allow' | 'deny';

interface Instruction {
  readonly code: number;
  readonly k: number;
  readonly yes?: Verdict;
  readonly no?: Verdict;
}

export function filterProgram(platform: Platform, filter: Filter): Buffer {
  const { auditArch, foreignFrom, denied, socket, sending } = platform;
  const body: Instruction[] = [
    { code: CODES.load, k: AT_ARCH },
    { code: CODES.equal, k: auditArch, no: 'deny' },
    ...(foreignFrom === null
      ? []
      : [LOAD_NUMBER, { code: CODES.atLeast, k: foreignFrom, yes: 'deny' } as const]),
    LOAD_NUMBER,
    ...[...denied, ...(filter === 'closed' ? [socket] : [])].map((k) => ({
      code: CODES.equal,
      k,
      yes: 'deny' as const,
    })),
    ...sending.flatMap(([call, flags]) =>
      onlyFor(call, [
        { code: CODES.load, k: atArgument(flags) },
        { code: CODES.anyBit, k: MSG_FASTOPEN, yes: 'deny', no: 'allow' },
      ]),
    ),
    ...(filter === 'closed' ? [] : onlyFor(socket, SOCKETS_THAT_LISTEN)),
    { code: CODES.return, k: ALLOW },
    { code: CODES.return, k: DENY },
  ];
  return encode(body);
}

const LOAD_NUMBER: Instruction = { code: CODES.load, k: AT_NUMBER };

const SOCKETS_THAT_LISTEN: readonly Instruction[] = [
  { code: CODES.load, k: atArgument(0) },
  { code: CODES.equal, k: AF_NETLINK, yes: 'allow' },
  { code: CODES.load, k: atArgument(1) },
  { code: CODES.and, k: TYPE_MASK },
  { code: CODES.equal, k: SOCK_STREAM, no: 'deny' },
  { code: CODES.load, k: atArgument(2) },
  { code: CODES.equal, k: ANY_PROTOCOL, yes: 'allow' },
  { code: CODES.equal, k: TCP, yes: 'allow', no: 'deny' },
];

interface Skip extends Instruction {
  readonly skip: number;
}

function onlyFor(call: number, instructions: readonly Instruction[]): Instruction[] {
  const test: Skip = { code: CODES.equal, k: call, skip: instructions.length };
  return [test, ...instructions];
}

function encode(program: readonly (Instruction | Skip)[]): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  const verdicts = { allow: program.length - 2, deny: program.length - 1 };
  for (const [index, instruction] of program.entries()) {
    const { code, k, yes, no } = instruction;
    const distance = (verdict: Verdict | undefined): number =>
      verdict === undefined ? 0 : verdicts[verdict] - index - 1;
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(distance(yes), at + 2);
    bytes.writeUInt8('skip' in instruction ? instruction.skip : distance(no), at + 3);
    bytes.writeUInt32LE(k, at + 4);
  }
  return bytes;
}
