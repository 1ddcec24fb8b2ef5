/** Exported functions of a real library, made to compute something else: the beginnings of bad builds. */
import { readFile, writeFile } from 'node:fs/promises';

const SHT_DYNSYM = 11;
const SYMBOL_BYTES = 24;

interface Function {
  /** Where it is once the library is loaded, and in the file. */
  readonly address: number;
  readonly offset: number;
}

/** Overwrites the beginning of a function with an instruction that ends the process. */
export async function breakFunction(file: string, name: string): Promise<void> {
  const elf = await readFile(file);
  elf.set(process.arch === 'x64' ? [0x0f, 0x0b] : [0, 0, 0, 0], functionIn(elf, name).offset);
  await writeFile(file, elf);
}

/** Makes a function do what another one does, which must take the same parameters. */
export async function redirectFunction(file: string, name: string, other: string): Promise<void> {
  const elf = await readFile(file);
  const [from, to] = [functionIn(elf, name), functionIn(elf, other)];
  if (process.arch === 'x64') {
    elf.writeUInt8(0xe9, from.offset);
    elf.writeInt32LE(to.address - (from.address + 5), from.offset + 1);
  } else {
    elf.writeUInt32LE((0x14000000 | (((to.address - from.address) / 4) & 0x3ffffff)) >>> 0, from.offset);
  }
  await writeFile(file, elf);
}

function functionIn(elf: Buffer, name: string): Function {
  const sectionAt = (index: number) => Number(elf.readBigUInt64LE(0x28)) + index * elf.readUInt16LE(0x3a);
  const word = (at: number): number => Number(elf.readBigUInt64LE(at));
  const sections = Array.from({ length: elf.readUInt16LE(0x3c) }, (_, index) => sectionAt(index));
  const symbols = sections.find((at) => elf.readUInt32LE(at + 4) === SHT_DYNSYM) ?? 0;
  const names = word(sectionAt(elf.readUInt32LE(symbols + 40)) + 24);
  const end = word(symbols + 24) + word(symbols + 32);
  for (let at = word(symbols + 24); at < end; at += SYMBOL_BYTES) {
    const from = names + elf.readUInt32LE(at);
    if (elf.toString('latin1', from, elf.indexOf(0, from)) !== name) continue;
    const code = sectionAt(elf.readUInt16LE(at + 6));
    const address = word(at + 8);
    return { address, offset: word(code + 24) + address - word(code + 16) };
  }
  throw new Error(`the library exports no ${name}`);
}
