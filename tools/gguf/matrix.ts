/**
 * Dense matrices as the built-in models use them: rows of outputs, columns of inputs,
 * filled from seeded noise and then edited by hand where a model needs a known behaviour.
 */
import { quantise, type WritableType } from './quantise.ts';
import type { TensorSource } from './writer.ts';
import type { Random } from './random.ts';

export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

export function zeroMatrix(rows: number, columns: number): Matrix {
  return { rows, columns, values: new Float32Array(rows * columns) };
}

export function randomMatrix(rows: number, columns: number, random: Random, spread: number): Matrix {
  const matrix = zeroMatrix(rows, columns);
  for (let index = 0; index < matrix.values.length; index += 1)
    matrix.values[index] = random.normal() * spread;
  return matrix;
}

export function setCell(matrix: Matrix, row: number, column: number, value: number): void {
  matrix.values[row * matrix.columns + column] = value;
}

/** Adds a multiple of one matrix's row to a row of another of the same width. */
export function addRow(matrix: Matrix, row: number, from: Matrix, fromRow: number, factor: number): void {
  for (let column = 0; column < matrix.columns; column += 1) {
    const at = row * matrix.columns + column;
    const added = from.values[fromRow * from.columns + column] ?? 0;
    matrix.values[at] = (matrix.values[at] ?? 0) + factor * added;
  }
}

export function clearRows(matrix: Matrix, from: number, to: number): void {
  matrix.values.fill(0, from * matrix.columns, to * matrix.columns);
}

export function clearColumns(matrix: Matrix, from: number, to: number): void {
  for (let row = 0; row < matrix.rows; row += 1)
    matrix.values.fill(0, row * matrix.columns + from, row * matrix.columns + to);
}

/** ggml lists the row length first, so the dimensions are columns and then rows. */
export function matrixTensor(name: string, matrix: Matrix, type: WritableType = 'F16'): TensorSource {
  return {
    name,
    type,
    dims: [matrix.columns, matrix.rows],
    chunks: () => [quantise(type, matrix.values)],
  };
}

/** A vector, kept in full precision as llama.cpp expects of norms and biases. */
export function vectorTensor(name: string, length: number, value: number): TensorSource {
  return {
    name,
    type: 'F32',
    dims: [length],
    chunks: () => [quantise('F32', new Float32Array(length).fill(value))],
  };
}
