/** The tables as a binding takes them, and their types in TypeScript. */
import koffi from 'koffi';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { enumName, KV_TYPES, LOG_LEVELS } from '../src/enums.ts';
import { GGML, GGML_BASE, LLAMA } from '../src/functions.ts';
import { MEDIA_STRUCTS, type MediaParams, MTMD } from '../src/media.ts';
import {
  type Batch,
  type ContextParams,
  type ModelParams,
  STRUCTS,
  type ThreadpoolParams,
  type TokenDataArray,
} from '../src/structs.ts';

type Members<Name extends keyof typeof STRUCTS> = keyof (typeof STRUCTS)[Name];
/** Compiles only if the interface has the members of its struct, all of them and no others. */
type Same<A, B> = [A, B] extends [B, A] ? true : never;
const _interfaces: [
  Same<keyof ModelParams, Members<'llama_model_params'>>,
  Same<keyof ContextParams, Members<'llama_context_params'>>,
  Same<keyof Batch, Members<'llama_batch'>>,
  Same<keyof TokenDataArray, Members<'llama_token_data_array'>>,
  Same<keyof ThreadpoolParams, Members<'ggml_threadpool_params'>>,
  Same<keyof MediaParams, keyof typeof MEDIA_STRUCTS.mtmd_context_params>,
] = [true, true, true, true, true, true];

/** koffi's names are global to a process, which other tests share. */
const own = (name: string): string => `tables_${name}`;
const structs: Readonly<Record<string, Readonly<Record<string, string>>>> = { ...STRUCTS, ...MEDIA_STRUCTS };
const ownType = (type: string): string =>
  type.replace(/\w+/g, (word) => (word in structs ? own(word) : word));
const types = Object.fromEntries(
  Object.entries(structs).map(([name, members]) => [
    name,
    koffi.struct(
      own(name),
      Object.fromEntries(Object.entries(members).map(([member, type]) => [member, ownType(type)])),
    ),
  ]),
);

describe('structs', () => {
  it('have the sizes of the C rules on 64 bits', () => {
    expect(koffi.sizeof(types['llama_token_data'] ?? '')).toBe(12);
    expect(koffi.sizeof(types['llama_token_data_array'] ?? '')).toBe(32);
    expect(koffi.offsetof(types['ggml_threadpool_params'] ?? '', 'n_threads')).toBe(512);
  });
});

describe('functions', () => {
  const all = Object.entries({ ...LLAMA, ...GGML, ...GGML_BASE, ...MTMD });

  it('are there', () => {
    expect(all.length).toBeGreaterThan(100);
  });

  it.each(all)('%s has a prototype that a binding can declare', (name, { result, parameters }) => {
    expect(() => koffi.proto(own(name), ownType(result), parameters.map(ownType))).not.toThrow();
  });
});

describe('enumerators', () => {
  it('have names in both directions', () => {
    expect(enumName(KV_TYPES, KV_TYPES.q8_0)).toBe('q8_0');
    expect(enumName(LOG_LEVELS, 99)).toBeUndefined();
  });
});

describe('the README', () => {
  const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

  it('names every entry, and no others', () => {
    const { exports } = JSON.parse(read('package.json')) as { readonly exports: object };
    const [, table = ''] = read('README.md').split(/\| entry +\|/);
    const named = [...table.matchAll(/^\| `([\w-]+)` +\|/gm)].map(([, name = '']) => `./${name}`);
    expect(named.sort()).toEqual(Object.keys(exports).sort());
  });

  it('has an example of a function and structs that exist', () => {
    const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(read('README.md')) ?? [];
    const [, name = ''] = /llama\.(llama_\w+)\(/.exec(example) ?? [];
    expect(Object.keys(LLAMA)).toContain(name);
  });
});
