/**
 * A C++ program that compiles only against llama.cpp headers that match these declarations: size and offsets of each
 * struct, parameters and result of each function, value of each enumerator. It is never run, so it can be compiled
 * for any platform.
 */
import { createHash } from 'node:crypto';
import { ENUMS } from './enums.ts';
import type { Declared } from './declared.ts';
import { GGML, GGML_BASE, LLAMA } from './functions.ts';
import { STRUCTS } from './structs.ts';

export const FUNCTIONS: Readonly<Record<string, Pick<Declared<unknown>, 'result' | 'parameters'>>> = {
  ...LLAMA,
  ...GGML,
  ...GGML_BASE,
};

const FIXED: Readonly<Record<string, string>> = {
  int32: 'std::int32_t',
  int64: 'std::int64_t',
  uint32: 'std::uint32_t',
  uint64: 'std::uint64_t',
};

/** Compares how two types are passed, and their size. Names and signs may differ. */
const PRELUDE = `#include <cstddef>
#include <cstdint>
#include <type_traits>
#include "llama.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"

template <class T> constexpr int passed() {
  return std::is_pointer<T>::value ? 1 : std::is_floating_point<T>::value ? 2 : std::is_class<T>::value ? 3 : 4;
}
template <class A, class B> struct Fits {
  static constexpr bool value = passed<A>() == passed<B>() && sizeof(A) == sizeof(B) &&
    (!std::is_class<A>::value || std::is_same<A, B>::value);
};
template <class A> struct Fits<A, void> { static constexpr bool value = false; };
template <class B> struct Fits<void, B> { static constexpr bool value = false; };
template <> struct Fits<void, void> { static constexpr bool value = true; };

template <class...> struct List {};
template <class, class> struct All { static constexpr bool value = false; };
template <> struct All<List<>, List<>> { static constexpr bool value = true; };
template <class A, class... As, class B, class... Bs> struct All<List<A, As...>, List<B, Bs...>> {
  static constexpr bool value = Fits<A, B>::value && All<List<As...>, List<Bs...>>::value;
};
template <class, class> struct Agrees { static constexpr bool value = false; };
template <class R, class... A, class S, class... B> struct Agrees<R(A...), S(B...)> {
  static constexpr bool value = Fits<R, S>::value && All<List<A...>, List<B...>>::value;
};
`;

export function probeSource(): string {
  return [PRELUDE, ...Object.entries(STRUCTS).map(structProbe), functionProbes(), enumProbes(), ''].join(
    '\n',
  );
}

/** Changes with any declaration; headers that passed an earlier probe may fail a later one. */
export function apiDigest(): string {
  digest ??= createHash('sha256').update(JSON.stringify(declarations())).digest('hex');
  return digest;
}

let digest: string | undefined;

function declarations(): unknown {
  const declared = Object.entries(FUNCTIONS).map(([name, { result, parameters }]) => [
    name,
    result,
    parameters,
  ]);
  return [STRUCTS, declared, ENUMS];
}

function structProbe([name, members]: readonly [string, Readonly<Record<string, string>>]): string {
  const mirror = `mirror_${name}`;
  const fields = Object.entries(members).map(([member, type]) => `  ${cppField(type, member)};`);
  const checks = Object.keys(members).map(
    (member) =>
      `static_assert(offsetof(${mirror}, ${member}) == offsetof(${name}, ${member}) && ` +
      `Fits<decltype(${mirror}::${member}), decltype(${name}::${member})>::value, "${name}.${member}");`,
  );
  const size = `static_assert(sizeof(${mirror}) == sizeof(${name}), "the size of ${name}");`;
  return [`struct ${mirror} {`, ...fields, '};', ...checks, size].join('\n');
}

function functionProbes(): string {
  return Object.entries(FUNCTIONS)
    .map(([name, { result, parameters }]) => {
      const prototype = `${cppType(result)}(${parameters.map(cppType).join(', ')})`;
      return `static_assert(Agrees<${prototype}, decltype(${name})>::value, "${name}");`;
    })
    .join('\n');
}

function enumProbes(): string {
  return Object.entries(ENUMS)
    .flatMap(([prefix, values]) =>
      Object.entries(values).map(([key, value]) => {
        const name = prefix + key.replace('+', '_').toUpperCase();
        return `static_assert(static_cast<int>(${name}) == ${value}, "${name}");`;
      }),
    )
    .join('\n');
}

/** All pointers are passed alike; whether koffi copies through one does not concern the headers. */
const cppType = (declared: string): string =>
  declared.endsWith('*') ? 'void *' : (FIXED[declared] ?? declared);

function cppField(declared: string, name: string): string {
  const [, element, count] = /^(\w+)\[(\d+)\]$/.exec(declared) ?? [];
  return element === undefined ? `${cppType(declared)} ${name}` : `${cppType(element)} ${name}[${count}]`;
}
