/** A header of llama.cpp made of the declarations themselves, for tests of what compares headers with them. */
import { ENUMS } from '../src/enums.ts';
import { FUNCTIONS } from '../src/probe.ts';
import { STRUCTS } from '../src/structs.ts';

const NAMES: Readonly<Record<string, string>> = {
  int32: 'int32_t',
  int64: 'int64_t',
  uint32: 'uint32_t',
  uint64: 'uint64_t',
};

const cType = (type: string): string => (type.endsWith('*') ? 'struct any *' : (NAMES[type] ?? type));

/** The text of a `llama.h` that agrees with the declarations. */
export function agreeingHeader(): string {
  const structs = Object.entries(STRUCTS).map(([name, members]) => {
    const fields = Object.entries(members).map(([member, type]) => {
      const [, element, count] = /^(\w+)\[(\d+)\]$/.exec(type) ?? [];
      return element === undefined ? `  ${cType(type)} ${member};` : `  ${element} ${member}[${count}];`;
    });
    return `struct ${name} {\n${fields.join('\n')}\n};`;
  });
  const functions = Object.entries(FUNCTIONS).map(
    ([name, { result, parameters }]) => `${cType(result)} ${name}(${parameters.map(cType).join(', ')});`,
  );
  const enums = Object.entries(ENUMS).map(
    ([prefix, values]) =>
      `enum { ${Object.entries(values)
        .map(([key, value]) => `${prefix}${key.replace('+', '_').toUpperCase()} = ${value}`)
        .join(', ')} };`,
  );
  return [
    '#pragma once',
    '#include <stddef.h>',
    '#include <stdint.h>',
    ...structs,
    ...functions,
    ...enums,
    '',
  ].join('\n');
}
