/** The exit code of several verdicts, and the fingerprint of the key. */
import { createHash, createPublicKey } from 'node:crypto';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import type { CliContext } from '../context.ts';
import { registerEvidence, worstExitCode } from './evidence.ts';

describe('the exit code of several files', () => {
  it.each([
    [[0, 2, 4, 3, 1], 1],
    [[0, 2, 4, 3], 3],
    [[0, 2, 4], 4],
    [[0, 2], 2],
    [[0], 0],
  ] as const)('of %j is %d', (codes, worst) => {
    expect(worstExitCode(codes.map((exitCode) => ({ exitCode })))).toBe(worst);
  });
});

describe('the public key', () => {
  it('is PEM, and its fingerprint the SHA-256 of what is in it', async () => {
    const home = await temporaryFolder();
    const printed = async (...flags: string[]) => {
      const lines: string[] = [];
      const context = { config: () => ({ home }), print: (text: string) => lines.push(text) };
      const program = new Command().exitOverride();
      registerEvidence(program, context as unknown as CliContext);
      await program.parseAsync(['evidence', 'pubkey', ...flags], { from: 'user' });
      return lines.join('\n');
    };
    const spki = createPublicKey(await printed()).export({ type: 'spki', format: 'der' });
    expect(await printed('--fingerprint')).toBe(createHash('sha256').update(spki).digest('hex'));
  });
});
