import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { coresIn, physicalCores } from './physical-cores.ts';

function entry(relation: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32LE(relation, 8);
  return bytes;
}

describe('physical cores', () => {
  it('are at least one, and no more than the logical ones', async () => {
    const cores = await physicalCores();
    expect(cores).toBeGreaterThanOrEqual(1);
    expect(cores).toBeLessThanOrEqual(availableParallelism());
  });

  it('are the entries of Windows about cores, not those about caches and sockets', () => {
    expect(coresIn(Buffer.concat([entry(0), entry(2), entry(0), entry(3), entry(1), entry(2)]))).toBe(2);
    expect(coresIn(Buffer.alloc(0))).toBeNull();
    expect(coresIn(Buffer.concat([entry(2), Buffer.alloc(7)]))).toBeNull();
  });

  it('are the logical ones where a Mac does not answer', async () => {
    expect(await physicalCores('darwin')).toBe(availableParallelism());
  });
});
