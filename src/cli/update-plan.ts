/** Plans an update of this installation: the steps and their programs. Pure: output of git and npm is passed in. */
import path from 'node:path';

export type Form =
  | { readonly kind: 'checkout'; readonly folder: string }
  | { readonly kind: 'package'; readonly prefix: string | null; readonly folder: string }
  | { readonly kind: 'copy'; readonly folder: string };

export interface FormFacts {
  readonly folder: string;
  readonly hasGit: boolean;
  readonly isWindows: boolean;
}

/** Judged by the package's place: npm puts it below node_modules, or below a prefix if it is global. */
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

export const fetchProgram = (folder: string): Program => ['git', '-C', folder, 'fetch', '--quiet'];

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

/** Reads the output of `npm pack --json`; null for anything else. */
export function readPackageFacts(json: string): { readonly name: string; readonly version: string } | null {
  try {
    const [first] = JSON.parse(json) as { name?: unknown; version?: unknown }[];
    const { name, version } = first ?? {};
    return typeof name === 'string' && typeof version === 'string' ? { name, version } : null;
  } catch {
    return null;
  }
}
