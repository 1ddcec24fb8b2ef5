/**
 * The seccomp filters of a sealed process, as the kernel's little programs: no connection, and none of the ways around.
 * `listening` still lets a socket for TCP be made, for a server that has not bound its port; `closed` lets none be made.
 * Sockets that were open before go on: the one that listens, and the channel to the parent.
 */

export type Filter = 'listening' | 'closed';

interface Platform {
  /** The kernel's name of the instruction set. */
  readonly auditArch: number;
  readonly seccomp: number;
  /** Numbers from here on belong to another set of calls, all of which are denied. */
  readonly foreignFrom: number | null;
  readonly socket: number;
  /**
   * connect: the way out. io_uring_setup: makes sockets and connects them without a call. pidfd_getfd, ptrace,
   * process_vm_writev: take a socket of, or write into, a process that is not sealed.
   */
  readonly denied: readonly number[];
  /** sendto, sendmsg, sendmmsg, each with the place of its flags: one of them connects while it sends. */
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
/** The low half of an argument, where its 32 bits are. */
const atArgument = (index: number): number => 16 + 8 * index;

const TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const ANY_PROTOCOL = 0;
const TCP = 6;
/** Asks the kernel about the machine's own interfaces; it leads nowhere. */
const AF_NETLINK = 16;
const MSG_FASTOPEN = 0x2000_0000;

type Verdict = 'allow' | 'deny';

interface Instruction {
  readonly code: number;
  readonly k: number;
  /** Target of a test; absent: the next instruction. */
  readonly yes?: Verdict;
  readonly no?: Verdict;
}

/** The instructions, eight bytes each. */
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
  /** Instructions to leave out where the call is another. */
  readonly skip: number;
}

function onlyFor(call: number, instructions: readonly Instruction[]): Instruction[] {
  const test: Skip = { code: CODES.equal, k: call, skip: instructions.length };
  return [test, ...instructions];
}

/** The last two instructions are the verdicts. */
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
