/**
 * Text search in linear, counted time. V8's search is quadratic for some long texts: half a megabyte in one call
 * takes 40 s. So it is used for short texts only. Positions are UTF-16 units; -1: not found.
 */
import type { Budget } from './budget.ts';

/** Chosen: V8's worst case for this length is within the counted cost. */
const SHORT = 32;

export function firstPlace(text: string, wanted: string, budget: Budget, from = 0): number {
  const at = wanted.length <= SHORT ? text.indexOf(wanted, from) : forwards(text, wanted, from);
  budget.spend(stepCount((at < 0 ? text.length : at + wanted.length) - from));
  return at;
}

export function lastPlace(text: string, wanted: string, budget: Budget, end = text.length): number {
  if (end < wanted.length) return -1;
  const at =
    wanted.length <= SHORT ? text.lastIndexOf(wanted, end - wanted.length) : backwards(text, wanted, end);
  budget.spend(stepCount(end - Math.max(0, at)));
  return at;
}

const stepCount = (characters: number): number => Math.ceil(Math.max(0, characters) / SHORT);

/** In growing windows, so that the text after the match is not read. */
function forwards(text: string, wanted: string, from: number): number {
  const units = codeUnits(wanted);
  const borders = computeBorders(units);
  let size = 4 * wanted.length;
  for (let start = from; text.length - start >= wanted.length; start += size - wanted.length + 1, size *= 2) {
    const at = matched(codeUnits(text.slice(start, start + size)), units, borders);
    if (at >= 0) return start + at;
    if (start + size >= text.length) break;
  }
  return -1;
}

function backwards(text: string, wanted: string, end: number): number {
  const units = codeUnits(wanted).toReversed();
  const borders = computeBorders(units);
  let size = 4 * wanted.length;
  for (let stop = end; stop >= wanted.length; stop -= size - wanted.length + 1, size *= 2) {
    const at = matched(codeUnits(text.slice(Math.max(0, stop - size), stop)).toReversed(), units, borders);
    if (at >= 0) return stop - at - wanted.length;
    if (stop <= size) break;
  }
  return -1;
}

function codeUnits(text: string): Uint16Array {
  const bytes = Buffer.from(text, 'utf16le');
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
}

/** Length of the longest border of each prefix (Knuth, Morris and Pratt). */
function computeBorders(units: Uint16Array): Int32Array {
  const borders = new Int32Array(units.length);
  for (let at = 1, border = 0; at < units.length; at += 1) {
    while (border > 0 && units[at] !== units[border]) border = borders[border - 1] as number;
    if (units[at] === units[border]) border += 1;
    borders[at] = border;
  }
  return borders;
}

function matched(text: Uint16Array, wanted: Uint16Array, borders: Int32Array): number {
  for (let at = 0, known = 0; at < text.length; at += 1) {
    while (known > 0 && text[at] !== wanted[known]) known = borders[known - 1] as number;
    if (text[at] === wanted[known]) known += 1;
    if (known === wanted.length) return at + 1 - known;
  }
  return -1;
}
