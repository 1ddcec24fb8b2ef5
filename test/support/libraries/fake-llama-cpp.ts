/**
 * A source tree that CMake "builds" into the libraries of the package for this machine, and headers made of Hearth's own
 * declarations: everything of a build but the compilation of llama.cpp, in seconds.
 */
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findLibraries } from '../../../src/lib/files/native-library.ts';
import { agreeingHeader } from '../../../packages/llama-api/test/headers.ts';

/** As cmake leaves it: each library with its version, and links to it. */
export async function builtLlamaCpp(root: string): Promise<string> {
  await copyLibraries(path.join(root, 'build', 'bin'));
  return root;
}

async function copyLibraries(bin: string): Promise<void> {
  const files = findLibraries('cpu', null);
  if (files === null) throw new Error('the native library is not installed');
  await mkdir(bin, { recursive: true });
  const links = { 'libllama.so': files.llama, 'libggml.so': files.ggml };
  for (const [link, file] of Object.entries(links)) {
    await copyFile(file, path.join(bin, `${link}.0.5.0`));
    await symlink(`${link}.0.5.0`, path.join(bin, link));
  }
  for (const name of await readdir(files.folder))
    if (name.startsWith('libggml-')) await copyFile(path.join(files.folder, name), path.join(bin, name));
  await writeFile(path.join(bin, 'llama-server'), 'a program');
}

/** The release that a library says it is; of the same length as its own. */
export async function pretendRelease(bin: string, release: string): Promise<void> {
  const file = path.join(bin, 'libllama.so.0.5.0');
  const bytes = await readFile(file);
  const at = bytes.indexOf('\x000.5.0-dev\x00', 0, 'latin1') + 1;
  const found = at > 0 ? at : bytes.indexOf('\x000.5.0\x00', 0, 'latin1') + 1;
  if (found === 0) throw new Error('the library does not name its release');
  bytes.write(release, found, 'latin1');
  await writeFile(file, bytes);
}

const PROJECT = `cmake_minimum_required(VERSION 3.14)
project(llama_cpp CXX)
add_custom_target(llama ALL COMMAND \${CMAKE_COMMAND} -E copy_directory \${CMAKE_SOURCE_DIR}/made \${CMAKE_BINARY_DIR}/bin)
`;

/** `change` edits the header as another release might. */
export async function fakeSource(
  root: string,
  change: (header: string) => string = (text) => text,
): Promise<string> {
  await copyLibraries(path.join(root, 'made'));
  await writeFile(path.join(root, 'CMakeLists.txt'), PROJECT);
  await writeHeaders(root, change);
  return root;
}

export async function writeHeaders(
  root: string,
  change: (header: string) => string = (text) => text,
): Promise<void> {
  await mkdir(path.join(root, 'include'), { recursive: true });
  await mkdir(path.join(root, 'ggml', 'include'), { recursive: true });
  await writeFile(path.join(root, 'include', 'llama.h'), change(agreeingHeader()));
  for (const name of ['ggml-backend.h', 'ggml-cpu.h'])
    await writeFile(path.join(root, 'ggml', 'include', name), '#pragma once\n');
}
