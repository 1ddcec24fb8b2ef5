import type { NativeAdapter, ScaledAdapter } from '../native.ts';
import type { Pointer } from './library/layouts.ts';
import type { Library } from './library/open.ts';

export class AdapterHandle implements NativeAdapter {
  readonly path: string;
  readonly pointer: Pointer;

  constructor(path: string, pointer: Pointer) {
    this.path = path;
    this.pointer = pointer;
  }
}

export function applyAdapters(library: Library, context: Pointer, adapters: readonly ScaledAdapter[]): void {
  const pointers = adapters.map(({ adapter }) => {
    if (!(adapter instanceof AdapterHandle)) throw new Error('the adapter is not one of this library');
    return adapter.pointer;
  });
  const scales = Float32Array.from(adapters, ({ scale }) => scale);
  const result = library.llama_set_adapters_lora(
    context,
    BigUint64Array.from(pointers),
    adapters.length,
    scales,
  );
  if (result !== 0) throw new Error(`llama_set_adapters_lora failed with ${result}`);
}
