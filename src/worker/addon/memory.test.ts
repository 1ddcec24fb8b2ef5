import { describe, expect, it } from 'vitest';
import { findLibraries } from '../../lib/files/native-library.ts';
import { cxxLibraryIn, readCxxLibrary } from './memory.ts';

const named = (...names: readonly string[]) => cxxLibraryIn(Buffer.from(`\0${names.join('\0')}\0`));
const RETURNS_STRING = '_Z3fooB5cxx11v';
const OF_LIBSTDCXX = '_Z12common_parseRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE';
const OF_LIBCXX = '_Z12common_parseRKNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE';

describe('the C++ library of a build', () => {
  it.each([
    ['GCC on Linux', ['libm.so.6', 'libstdc++.so.6', OF_LIBSTDCXX], 'libstdc++'],
    ['GCC with libstdc++ linked in', ['libm.so.6', OF_LIBSTDCXX], 'libstdc++'],
    ['clang with -stdlib=libc++', ['libc++.so.1', 'libc++abi.so.1'], 'libc++'],
    ['zig, with libc++ linked in', ['libc.so.6', OF_LIBCXX], 'libc++'],
    ['clang on macOS', ['/usr/lib/libc++.1.dylib', '/usr/lib/libSystem.B.dylib'], 'libc++'],
    ['MinGW', ['KERNEL32.dll', 'libstdc++-6.dll'], 'libstdc++'],
    ['MSVC', ['MSVCP140.dll', '?llama_get_memory_breakdown@@YA'], null],
    ['a build of C only', ['libc.so.6', RETURNS_STRING.slice(0, 3)], null],
    ['a build that mixes both', ['libstdc++.so.6', OF_LIBCXX], null],
  ] as const)('of %s', (_name, names, expected) => {
    expect(named(...names)).toBe(expected);
  });

  it.runIf(process.platform === 'linux')('is libstdc++ in the package for this machine', () => {
    expect(readCxxLibrary(findLibraries('cpu', null)?.llama ?? '')).toBe('libstdc++');
  });
});
