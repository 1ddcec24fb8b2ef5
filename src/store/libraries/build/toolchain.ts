import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fail } from '../../../lib/errors/svc-error.ts';
import { findOnPath, isProgram } from '../../../lib/files/program.ts';
import { type BuildGpu, TOOLKITS } from './options.ts';
import { type Tool, toolFor, type ToolName } from './tools.ts';

export const COMPILERS = ['auto', 'system', 'zig'] as const;
export type CompilerChoice = (typeof COMPILERS)[number];

export interface Toolchain {
  readonly compiler: string;
  readonly cmake: { readonly path: string; readonly version: string };
  /** Null: CMake uses the platform's default. */
  readonly ninja: string | null;
  readonly options: readonly string[];
}

export interface Search {
  readonly choice: CompilerChoice;
  readonly gpu: BuildGpu;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly tools: string;
}

export interface Found {
  readonly toolchain: Toolchain;
  /** To be fetched; `toolchain` already has their future paths. */
  readonly missing: readonly Tool[];
}

const run = promisify(execFile);

export async function findToolchain(search: Search): Promise<Found> {
  const { choice, gpu } = search;
  await requireToolkit(search);
  if (choice === 'zig' && gpu !== 'none' && gpu !== 'vulkan')
    throw impossible(`zig cannot compile for ${gpu}`, `leave out --compiler zig`);
  const wanted: Tool[] = [];
  const fetched = (name: ToolName): string => {
    const tool = toolFor(name, `${search.platform}-${search.arch}`);
    if (tool === null) {
      throw impossible(
        `no ${name} is pinned for ${search.platform}-${search.arch}`,
        `install ${name} with the system's packages`,
      );
    }
    if (!existsSync(toolPath(search.tools, tool))) wanted.push(tool);
    return toolPath(search.tools, tool);
  };
  const compiler = choice === 'zig' ? null : await systemCompiler(search);
  const have = (program: string) => findOnPath(program, search.env['PATH'] ?? '');
  if (choice !== 'zig') {
    const lacks = [
      ...(compiler === null ? ['C++ compiler'] : []),
      ...((await have('cmake')) === null ? ['CMake'] : []),
    ];
    if (lacks.length > 0) {
      throw impossible(
        `no ${lacks.join(' and no ')} is on PATH`,
        'install it (Debian: apt install g++ cmake ninja-build; macOS: xcode-select --install and brew install cmake; Windows: Build Tools for Visual Studio), or let Hearth fetch what is missing: hearth library build --compiler zig',
      );
    }
  }
  const cmake = (await have('cmake')) ?? fetched('cmake');
  const ninja = (await have('ninja')) ?? (choice === 'zig' ? fetched('ninja') : null);
  const zig = choice === 'zig' ? fetched('zig') : null;
  return {
    missing: wanted,
    toolchain: {
      compiler:
        zig === null
          ? (compiler ?? '')
          : `zig ${toolFor('zig', `${search.platform}-${search.arch}`)?.version ?? ''}`,
      cmake: {
        path: cmake,
        version: wanted.length > 0 && !existsSync(cmake) ? 'not fetched yet' : await programVersion(cmake),
      },
      ninja,
      options: zig === null ? [] : zigOptions(zig),
    },
  };
}

/** In CMake, a list is a program followed by its first arguments. */
const zigOptions = (zig: string): string[] => [
  `-DCMAKE_C_COMPILER=${zig};cc`,
  `-DCMAKE_CXX_COMPILER=${zig};c++`,
  `-DCMAKE_ASM_COMPILER=${zig};cc`,
];

export const toolPath = (tools: string, tool: Tool): string =>
  join(tools, `${tool.name}-${tool.version}`, ...tool.program.split('/'));

async function requireToolkit({ gpu, env, platform }: Search): Promise<void> {
  const toolkit = TOOLKITS[gpu];
  if (toolkit === undefined) return;
  if (gpu === 'metal' && platform !== 'darwin')
    throw impossible('Metal is only on macOS', 'choose another --gpu');
  for (const program of toolkit.programs) {
    const found = program.includes('/')
      ? await isProgram(program)
      : (await findOnPath(program, env['PATH'] ?? '')) !== null;
    if (found) return;
  }
  throw impossible(`${toolkit.programs[0]} is not on PATH`, `install ${toolkit.from}`);
}

/** Finds the compiler like CMake: CXX first. On Windows it looks for Visual Studio, which is on no PATH. */
async function systemCompiler({ env, platform }: Search): Promise<string | null> {
  const named = env['CXX']?.trim();
  const candidates = named ? [named.split(' ')[0] ?? named] : ['c++', 'g++', 'clang++'];
  for (const candidate of candidates) {
    const path =
      candidate.includes('/') || candidate.includes('\\')
        ? candidate
        : await findOnPath(candidate, env['PATH'] ?? '');
    if (path !== null && (await isProgram(path))) return programVersion(path);
  }
  if (platform !== 'win32') return null;
  const root = env['ProgramFiles(x86)'] ?? 'C:\\Program Files (x86)';
  const installer = join(root, 'Microsoft Visual Studio', 'Installer', 'vswhere.exe');
  return existsSync(installer) ? 'Visual Studio' : null;
}

async function programVersion(program: string): Promise<string> {
  const { stdout } = await run(program, ['--version'], { timeout: 20_000, windowsHide: true }).catch(() => ({
    stdout: '',
  }));
  return stdout.split(/\r?\n/)[0]?.slice(0, 128) || 'of unknown version';
}

export const impossible = (reason: string, remedy: string): Error =>
  fail('library_build_impossible', { reason, remedy });
