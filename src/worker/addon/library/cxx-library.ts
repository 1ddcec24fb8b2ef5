/** The C++ library that a shared library was built with: it decides how a std::map lies in memory. */
import { readFileSync } from 'node:fs';

export type CxxLibrary = 'libstdc++' | 'libc++';

/** Marks of a build with it: the library that it needs, or, where that is linked in, types in names of functions. */
const MARKS: Readonly<Record<CxxLibrary, readonly string[]>> = {
  'libstdc++': ['\0libstdc++.so.', '\0libstdc++-6.dll', '/libstdc++.6.dylib', 'NSt7__cxx11'],
  'libc++': ['\0libc++.so.', '\0libc++.dll', '/libc++.1.dylib', 'NSt3__1'],
};

/** Null if the file names neither, or both. */
export function readCxxLibrary(file: string): CxxLibrary | null {
  return cxxLibraryIn(readFileSync(file));
}

export function cxxLibraryIn(bytes: Buffer): CxxLibrary | null {
  const found = (['libstdc++', 'libc++'] as const).filter((name) =>
    MARKS[name].some((mark) => bytes.includes(mark, 0, 'latin1')),
  );
  return found.length === 1 ? (found[0] ?? null) : null;
}
