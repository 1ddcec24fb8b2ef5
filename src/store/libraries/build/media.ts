/**
 * The part of llama.cpp that reads images (libmtmd), built against existing libraries. Its own CMake list names its
 * sources; the project here replaces the targets that it links with those libraries.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LibraryFiles } from '../../../lib/files/native-library.ts';

const PROJECT = `cmake_minimum_required(VERSION 3.14)
project(hearth_media C CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(LLAMA_VERSION_BASE 0)
set(LLAMA_VERSION_MAJOR 0)
foreach(name llama ggml ggml-base)
  add_library(\${name} SHARED IMPORTED GLOBAL)
  set_target_properties(\${name} PROPERTIES
    IMPORTED_LOCATION "\${LIBRARY_\${name}}"
    INTERFACE_INCLUDE_DIRECTORIES "\${SOURCE}/include;\${SOURCE}/ggml/include")
endforeach()
target_link_libraries(ggml INTERFACE ggml-base)
function(llama_add_compile_flags)
endfunction()
add_subdirectory("\${SOURCE}/vendor" vendor)
add_subdirectory("\${SOURCE}/tools/mtmd" mtmd)
set_target_properties(mtmd PROPERTIES NO_SONAME ON)
set_property(TARGET mtmd PROPERTY VERSION)
set_property(TARGET mtmd PROPERTY SOVERSION)
`;

export async function writeMediaProject(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'CMakeLists.txt'), PROJECT);
}

/** Symbols would double its size. */
const STRIPPED: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: '-s' };

export function mediaOptions(
  { llama, ggml, base }: LibraryFiles,
  {
    source,
    output,
    platform,
  }: { readonly source: string; readonly output: string; readonly platform: NodeJS.Platform },
): string[] {
  const strip = STRIPPED[platform];
  const options: Readonly<Record<string, string>> = {
    CMAKE_BUILD_TYPE: 'Release',
    BUILD_SHARED_LIBS: 'ON',
    CMAKE_BUILD_WITH_INSTALL_RPATH: 'ON',
    // The process has already loaded these libraries, and finds them by name.
    CMAKE_INSTALL_RPATH: platform === 'darwin' ? '@loader_path' : '$ORIGIN',
    CMAKE_LIBRARY_OUTPUT_DIRECTORY: output,
    SOURCE: source,
    LIBRARY_llama: llama,
    LIBRARY_ggml: ggml,
    'LIBRARY_ggml-base': base,
    LLAMA_BUILD_TOOLS: 'OFF',
    MTMD_VIDEO: 'OFF',
    ...(strip === undefined ? {} : { CMAKE_SHARED_LINKER_FLAGS_RELEASE: strip }),
  };
  return Object.entries(options).map(([name, value]) => `-D${name}=${value}`);
}
