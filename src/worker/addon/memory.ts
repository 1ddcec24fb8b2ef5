/**
 * Memory of a context by device, as llama.cpp calculates it. Only C++ offers it: a std::map from buffer type to three
 * sizes, returned by value. The tree is read in the layout of libstdc++ or libc++, whichever the library was built
 * with. If that is unknown, or the tree looks wrong, the answer is null.
 */
import koffi, { type TypeObject } from 'koffi';
import { isTestedRelease } from '../../lib/files/native-library.ts';
import { type DeviceBytes, HOST_DEVICE } from '../../contract/memory.ts';
import type { Pointer } from './library/layouts.ts';
import type { Library } from './library/open.ts';
import { readFileSync } from 'node:fs';

const SYMBOL = '_Z26llama_get_memory_breakdownPK13llama_context';
const WORD = 8;
/** A node is four words in both libraries; its value follows: buffer type, model, context, compute. */
const VALUE = 4 * WORD;
const MOST_NODES = 256;
/** Host weights in the file's order; other host buffers hold copies in another order. */
const PLAIN_BUFFER = 'CPU';

interface TreeLayout {
  readonly struct: TypeObject;
  readonly root: string;
  readonly left: number;
  readonly right: number;
}

const TREES: Readonly<Record<CxxLibrary, TreeLayout>> = {
  'libstdc++': {
    struct: koffi.struct('std_map_libstdcxx', {
      compare: 'uint64',
      color: 'uint64',
      root: 'void*',
      first: 'void*',
      last: 'void*',
      count: 'size_t',
    }),
    root: 'root',
    left: 2 * WORD,
    right: 3 * WORD,
  },
  'libc++': {
    struct: koffi.struct('std_map_libcxx', { first: 'void*', root: 'void*', count: 'size_t' }),
    root: 'root',
    left: 0,
    right: WORD,
  },
};

/**
 * `mappedBytes`: least memory of weights that are not copied, because their file is mapped as a whole. Measuring a
 * model maps nothing.
 */
export type MemoryReader = (context: Pointer, mappedBytes?: number) => readonly DeviceBytes[] | null;

export function memoryReader(library: Library): MemoryReader {
  // The headers that a build is checked against do not describe the tree of another release.
  const isKnown = koffi.sizeof('void*') === WORD && isTestedRelease(library.llama_version());
  const built = isKnown ? readCxxLibrary(library.files.llama) : null;
  if (built === null) return () => null;
  const layout = TREES[built];
  const breakdown = library.optional(SYMBOL, layout.struct, 'void*');
  if (breakdown === null) return () => null;
  return (context, mappedBytes = 0) => {
    const map = (breakdown as unknown as (context: Pointer) => Readonly<Record<string, unknown>>)(context);
    const nodes = walkTree(map[layout.root] as Pointer | null, layout);
    if (nodes.length !== map['count']) return null;
    return byDevice(library, nodes, mappedBytes);
  };
}

function walkTree(root: Pointer | null, { left, right }: TreeLayout): Pointer[] {
  const found: Pointer[] = [];
  const open = [root];
  while (open.length > 0 && found.length <= MOST_NODES) {
    const node = open.pop() ?? null;
    if (node === null) continue;
    found.push(node);
    open.push(pointerAt(node, left), pointerAt(node, right));
  }
  return found;
}

function byDevice(library: Library, nodes: readonly Pointer[], mappedBytes: number): DeviceBytes[] {
  const totals = new Map<string, DeviceBytes>();
  for (const node of nodes) {
    const type = pointerAt(node, VALUE);
    if (type === null) continue;
    const [weightsBytes = 0, contextBytes, computeBytes] = [1, 2, 3].map((word) =>
      sizeAt(node, VALUE + word * WORD),
    );
    const isPlain = weightsBytes > 0 && library.ggml_backend_buft_name(type) === PLAIN_BUFFER;
    const modelBytes = isPlain ? Math.max(weightsBytes, mappedBytes) : weightsBytes;
    const device = deviceName(library, type);
    const before = totals.get(device);
    totals.set(device, {
      device,
      modelBytes: (before?.modelBytes ?? 0) + modelBytes,
      contextBytes: (before?.contextBytes ?? 0) + (contextBytes ?? 0),
      computeBytes: (before?.computeBytes ?? 0) + (computeBytes ?? 0),
    });
  }
  return [...totals.values()];
}

function deviceName(library: Library, type: Pointer): string {
  const device = library.ggml_backend_buft_is_host(type) ? null : library.ggml_backend_buft_get_device(type);
  return device === null ? HOST_DEVICE : library.ggml_backend_dev_name(device);
}

const pointerAt = (node: Pointer, offset: number): Pointer | null =>
  koffi.decode(node, offset, 'void*') as Pointer | null;

const sizeAt = (node: Pointer, offset: number): number => Number(koffi.decode(node, offset, 'size_t'));

type CxxLibrary = 'libstdc++' | 'libc++';

const MARKS: Readonly<Record<CxxLibrary, readonly string[]>> = {
  'libstdc++': ['\0libstdc++.so.', '\0libstdc++-6.dll', '/libstdc++.6.dylib', 'NSt7__cxx11'],
  'libc++': ['\0libc++.so.', '\0libc++.dll', '/libc++.1.dylib', 'NSt3__1'],
};

export function readCxxLibrary(file: string): CxxLibrary | null {
  return cxxLibraryIn(readFileSync(file));
}

export function cxxLibraryIn(bytes: Buffer): CxxLibrary | null {
  const found = (['libstdc++', 'libc++'] as const).filter((name) =>
    MARKS[name].some((mark) => bytes.includes(mark, 0, 'latin1')),
  );
  return found.length === 1 ? (found[0] ?? null) : null;
}
