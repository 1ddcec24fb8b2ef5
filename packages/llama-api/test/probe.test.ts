/** The probe, compiled: headers that agree pass, and a difference of any kind is named. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { probeSource } from '../src/probe.ts';
import { agreeingHeader } from './headers.ts';

const run = promisify(execFile);

function hasCompiler(): boolean {
  try {
    execFileSync('c++', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The errors of the compiler; empty where it has none. */
async function errorsWith(header: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'llama-api-'));
  try {
    await writeFile(path.join(folder, 'llama.h'), header);
    for (const name of ['ggml-backend.h', 'ggml-cpu.h']) await writeFile(path.join(folder, name), '');
    const probe = path.join(folder, 'probe.cpp');
    await writeFile(probe, probeSource());
    return await run('c++', ['-std=c++17', '-w', '-fsyntax-only', `-I${folder}`, probe]).then(
      () => '',
      (error: { readonly stderr: string }) => error.stderr,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe.runIf(hasCompiler())('the probe, where the machine has a C++ compiler', () => {
  it('accepts headers that agree', async () => {
    expect(await errorsWith(agreeingHeader())).toBe('');
  });

  it.each<[string, string | RegExp, string, string]>([
    ['a member of another size', 'uint32_t n_ctx;', 'uint64_t n_ctx;', 'llama_context_params.n_ctx'],
    [
      'two members that changed places',
      '  bool vocab_only;\n  bool check_tensors;',
      '  bool check_tensors;\n  bool vocab_only;',
      'llama_model_params.vocab_only',
    ],
    [
      'a further member',
      'struct llama_batch {',
      'struct llama_batch {\n  int32_t more;',
      'llama_batch.n_tokens',
    ],
    [
      'another parameter of a function',
      'llama_n_ctx_seq(struct any *)',
      'llama_n_ctx_seq(struct any *, bool)',
      'llama_n_ctx_seq',
    ],
    ['another result of a function', 'void llama_free(', 'bool llama_free(', 'llama_free'],
    ['another value of an enumerator', /GGML_TYPE_Q8_0 = \d+/, 'GGML_TYPE_Q8_0 = 80', 'GGML_TYPE_Q8_0'],
  ])('names %s', async (_, from, to, name) => {
    const header = agreeingHeader();
    const other = header.replace(from, to);
    expect(other).not.toBe(header);
    expect(await errorsWith(other)).toContain(`"${name}"`);
  });
});
