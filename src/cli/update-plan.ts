/**
 * Plans how this installation becomes another version: the steps, and the programs that run them. Pure: what git and npm say
 * is given.
 */
import path from 'node:path';

/** Kind of installation of this program. */
export type Form =
  | { readonly kind: 'checkout'; readonly folder: string }
  | { readonly kind: 'package'; readonly prefix: string | null; readonly folder: string }
  /** A copy of the source that no program manages. */
  | { readonly kind: 'copy'; readonly folder: string };

export interface FormFacts {
  readonly folder: string;
  readonly hasGit: boolean;
  readonly isWindows: boolean;
}

/** Decided by the package's place: npm puts it below node_modules, or below a prefix if it is global. */
export function installForm({ folder, hasGit, isWindows }: FormFacts): Form {
  if (hasGit) return { kind: 'checkout', folder };
  const { dirname, basename } = isWindows ? path.win32 : path.posix;
  const modules = dirname(folder);
  if (basename(modules) !== 'node_modules') return { kind: 'copy', folder };
  const above = dirname(modules);
  if (isWindows) return { kind: 'package', folder, prefix: above };
  return { kind: 'package', folder, prefix: basename(above) === 'lib' ? dirname(above) : null };
}

export type Program = readonly [name: string, ...args: string[]];

/** Runs in the checkout: fetches, and changes nothing of its files. */
export const fetchProgram = (folder: string): Program => ['git', '-C', folder, 'fetch', '--quiet'];

/** One line per commit that is new, the newest first. */
export const newCommitsProgram = (folder: string): Program => [
  'git',
  '-C',
  folder,
  'log',
  '--format=%h %s',
  'HEAD..@{upstream}',
];

export const changedFilesProgram = (folder: string): Program => [
  'git',
  '-C',
  folder,
  'status',
  '--porcelain',
  '--untracked-files=no',
];

/** Takes the commits over, then installs and builds what they need. */
export function checkoutPrograms(folder: string, node: string): readonly Program[] {
  return [
    ['git', '-C', folder, 'merge', '--ff-only', '--quiet', '@{upstream}'],
    [node, path.join(folder, 'scripts', 'build.mjs')],
  ];
}

const npm = (isWindows: boolean): string => (isWindows ? 'npm.cmd' : 'npm');

export const packageFactsProgram = (file: string, isWindows: boolean): Program => [
  npm(isWindows),
  'pack',
  file,
  '--dry-run',
  '--json',
  '--ignore-scripts',
];

export function packageProgram(file: string, prefix: string, isWindows: boolean): Program {
  return [
    npm(isWindows),
    'install',
    '--global',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefix',
    prefix,
    file,
  ];
}

/** Name and version of `npm pack --json`; null where it is something else. */
export function readPackageFacts(json: string): { readonly name: string; readonly version: string } | null {
  try {
    const [first] = JSON.parse(json) as { name?: unknown; version?: unknown }[];
    const { name, version } = first ?? {};
    return typeof name === 'string' && typeof version === 'string' ? { name, version } : null;
  } catch {
    return null;
  }
}
