import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { earlyOptions } from './compile-early.ts';

const run = promisify(execFile);

/** What V8 says of the options, and whether it still computes. */
const PROGRAM = `
  const v8 = require('node:v8');
  for (const option of process.argv.slice(1)) v8.setFlagsFromString(option);
  let sum = 0;
  const add = (number) => { sum += number; };
  for (let number = 0; number < 10_000; number += 1) add(number);
  console.log(sum);
`;

describe('options that compile early', () => {
  it('are known for the V8 of this Node, which takes them without a word', async () => {
    const options = earlyOptions(process.versions.v8);
    expect(options).not.toEqual([]);
    const { stdout, stderr } = await run(process.execPath, ['-e', PROGRAM, '--', ...options]);
    expect([stdout.trim(), stderr]).toEqual(['49995000', '']);
  });

  it('are none for a V8 that nobody measured', () => {
    expect(earlyOptions('99.1.0')).toEqual([]);
    expect(earlyOptions('')).toEqual([]);
  });
});
