/**
 * File rights of a sealed worker with Linux's landlock: only listed paths are readable. Its TCP rules add to the
 * seccomp filter. A separate domain keeps a sealed server out of the memory of other processes.
 */
import { closeSync, openSync, statSync } from 'node:fs';
import type { Kernel } from './kernel.ts';

const CREATE_RULESET = 444;
const ADD_RULE = 445;
const RESTRICT_SELF = 446;
const ASK_VERSION = 1;
const PATH_BENEATH = 1;
const PATH_ONLY = 0x20_0000;

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_FOLDER = 1n << 3n;
const REMOVE_FILE = 1n << 5n;
const MAKE_FILE = 1n << 8n;
const MOVE_BETWEEN_FOLDERS = 1n << 13n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEVICE = 1n << 15n;
const WRITE_IN_FOLDER = READ_FILE | READ_FOLDER | WRITE_FILE | MAKE_FILE | REMOVE_FILE | TRUNCATE;

/** File rights that each landlock version knows. */
const RIGHTS_OF_VERSION: readonly (readonly [version: number, rights: bigint])[] = [
  [5, 16n],
  [3, 15n],
  [2, 14n],
  [1, 13n],
];
/** TCP bind and connect, from version 4 on; scopes for abstract sockets and signals, from version 6 on. */
const NETWORK_RIGHTS = 3n;
const SCOPES = 3n;

interface FileRights {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly list: readonly string[];
  readonly devices: readonly string[];
}

/** False without landlock. Restrictions also hold for every program that this process executes or starts. */
export function restrictFiles(kernel: Kernel, { read, write, list, devices }: FileRights): boolean {
  const version = kernel.call(CREATE_RULESET, null, 0, ASK_VERSION);
  const count = RIGHTS_OF_VERSION.find(([from]) => version >= from)?.[1];
  if (count === undefined) return false;
  const handled = (1n << count) - 1n;
  restrictSelf(kernel, { handled, size: version >= 6 ? 24 : version >= 4 ? 16 : 8 }, (ruleset) => {
    for (const path of read) allow(kernel, ruleset, path, EXECUTE | READ_FILE | READ_FOLDER);
    for (const path of write) allow(kernel, ruleset, path, WRITE_IN_FOLDER & handled);
    for (const path of list) allow(kernel, ruleset, path, READ_FOLDER);
    for (const path of devices)
      allow(kernel, ruleset, path, (READ_FILE | READ_FOLDER | WRITE_FILE | IOCTL_DEVICE) & handled);
  });
  return true;
}

/**
 * Restricts no file, but moves this process into its own domain: processes outside cannot be traced, so /proc/PID/mem
 * and the like stay closed. False with landlock version 1, which forbids all moves between folders.
 */
export function enterDomain(kernel: Kernel): boolean {
  if (kernel.call(CREATE_RULESET, null, 0, ASK_VERSION) < 2) return false;
  restrictSelf(kernel, { handled: MOVE_BETWEEN_FOLDERS, size: 8 }, (ruleset) =>
    allow(kernel, ruleset, '/', MOVE_BETWEEN_FOLDERS),
  );
  return true;
}

interface Attributes {
  readonly handled: bigint;
  readonly size: 8 | 16 | 24;
}

function restrictSelf(
  kernel: Kernel,
  { handled, size }: Attributes,
  addRules: (ruleset: number) => void,
): void {
  const attributes = Buffer.alloc(24);
  attributes.writeBigUInt64LE(handled, 0);
  attributes.writeBigUInt64LE(NETWORK_RIGHTS, 8);
  attributes.writeBigUInt64LE(SCOPES, 16);
  const ruleset = kernel.must(kernel.call(CREATE_RULESET, attributes, size, 0), 'landlock_create_ruleset');
  try {
    addRules(ruleset);
    kernel.forbidPrivileges();
    kernel.must(kernel.call(RESTRICT_SELF, ruleset, 0, 0), 'landlock_restrict_self');
  } finally {
    closeSync(ruleset);
  }
}

function allow(kernel: Kernel, ruleset: number, path: string, rights: bigint): void {
  let file: number;
  try {
    file = openSync(path, PATH_ONLY);
  } catch {
    return;
  }
  try {
    const isFolder = statSync(path).isDirectory();
    const rule = Buffer.alloc(12);
    rule.writeBigUInt64LE(isFolder ? rights : rights & ~READ_FOLDER, 0);
    rule.writeInt32LE(file, 8);
    kernel.must(kernel.call(ADD_RULE, ruleset, PATH_BENEATH, rule, 0), 'landlock_add_rule');
  } finally {
    closeSync(file);
  }
}
