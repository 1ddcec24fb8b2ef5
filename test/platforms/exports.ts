/** The names that a shared library exports, read from its tables: ELF, Mach-O and PE, 64 bits. */

export function exportsOf(file: Buffer): Set<string> {
  const magic = file.readUInt32LE(0);
  if (magic === 0x464c457f) return elfExports(file);
  if (magic === 0xfeedfacf) return machoExports(file);
  if (file.toString('latin1', 0, 2) === 'MZ') return peExports(file);
  throw new Error(`a library of an unknown format (${magic.toString(16)})`);
}

const text = (file: Buffer, at: number): string => file.toString('latin1', at, file.indexOf(0, at));

const SHT_DYNSYM = 11;
const UNDEFINED = 0;

function elfExports(file: Buffer): Set<string> {
  const word = (at: number): number => Number(file.readBigUInt64LE(at));
  const section = (index: number): number => word(0x28) + index * file.readUInt16LE(0x3a);
  const names = new Set<string>();
  for (let index = 0; index < file.readUInt16LE(0x3c); index += 1) {
    const at = section(index);
    if (file.readUInt32LE(at + 4) !== SHT_DYNSYM) continue;
    const strings = word(section(file.readUInt32LE(at + 40)) + 24);
    for (let symbol = word(at + 24); symbol < word(at + 24) + word(at + 32); symbol += 24) {
      if (file.readUInt16LE(symbol + 6) !== UNDEFINED)
        names.add(text(file, strings + file.readUInt32LE(symbol)));
    }
  }
  return names;
}

const LC_SYMTAB = 2;
const N_EXT = 1;
const N_TYPE = 0x0e;

/** Names of C begin with an underscore there. */
function machoExports(file: Buffer): Set<string> {
  const names = new Set<string>();
  let at = 32;
  for (let command = 0; command < file.readUInt32LE(16); command += 1) {
    if (file.readUInt32LE(at) === LC_SYMTAB) {
      const [symbols, count, strings] = [8, 12, 16].map((offset) => file.readUInt32LE(at + offset));
      for (let index = 0; index < (count ?? 0); index += 1) {
        const symbol = (symbols ?? 0) + index * 16;
        const type = file.readUInt8(symbol + 4);
        if ((type & N_EXT) !== 0 && (type & N_TYPE) !== UNDEFINED)
          names.add(text(file, (strings ?? 0) + file.readUInt32LE(symbol)).replace(/^_/, ''));
      }
    }
    at += file.readUInt32LE(at + 4);
  }
  return names;
}

function peExports(file: Buffer): Set<string> {
  const header = file.readUInt32LE(0x3c);
  const optional = header + 24;
  const sections = optional + file.readUInt16LE(header + 20);
  const offsetOf = (address: number): number => {
    for (let index = 0; index < file.readUInt16LE(header + 6); index += 1) {
      const section = sections + index * 40;
      const [size, start, raw] = [8, 12, 20].map((offset) => file.readUInt32LE(section + offset));
      if (address >= (start ?? 0) && address < (start ?? 0) + (size ?? 0))
        return address - (start ?? 0) + (raw ?? 0);
    }
    throw new Error('an address outside of all sections');
  };
  const table = offsetOf(file.readUInt32LE(optional + 112));
  const list = offsetOf(file.readUInt32LE(table + 32));
  const names = new Set<string>();
  for (let index = 0; index < file.readUInt32LE(table + 24); index += 1)
    names.add(text(file, offsetOf(file.readUInt32LE(list + index * 4))));
  return names;
}
