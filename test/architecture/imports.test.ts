/** The import laws of ARCHITECTURE.md: which folder may know which, and where the dangerous modules may be loaded. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const source = path.resolve('src');

/** Folder → folders of src/ that it may import. A folder may always import itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  base: ['errors'],
  embed: [],
  protocol: ['engine'],
  engine: ['errors'],
  grammar: ['engine', 'errors'],
  gguf: ['errors'],
  builtin: ['gguf'],
  models: ['gguf', 'engine', 'errors', 'base'],
  scheduler: ['engine', 'errors', 'base'],
  prompt: ['protocol', 'engine', 'errors', 'grammar'],
  worker: ['engine', 'errors', 'base'],
  native: ['engine', 'errors', 'base', 'grammar', 'embed'],
  identity: ['errors', 'base'],
  evidence: ['errors', 'base', 'identity', 'engine', 'protocol'],
  metrics: ['base', 'engine', 'errors'],
  router: [
    'protocol',
    'prompt',
    'grammar',
    'embed',
    'identity',
    'evidence',
    'engine',
    'models',
    'metrics',
    'errors',
    'base',
  ],
  http: ['protocol', 'router', 'errors', 'base', 'metrics', 'evidence'],
  config: ['errors', 'base'],
  tuning: ['scheduler', 'engine', 'base'],
};

/** Package (or its prefix) → the folders that may import it. */
const guarded: Readonly<Record<string, readonly string[]>> = {
  'node-llama-cpp': ['native'],
  '@huggingface/jinja': ['native'],
  '@huggingface/hub': ['models'],
  fastify: ['http', 'app.ts'],
  '@fastify/': ['http'],
  // models/ is a client of hubs; only http/ serves.
  'node:http': ['http', 'models'],
  'node:child_process': ['worker'],
  commander: ['cli'],
  '@clack/prompts': ['cli'],
  'prom-client': ['metrics'],
};

interface Import {
  readonly file: string;
  readonly folder: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => name.replaceAll('\\', '/'));

const imports: readonly Import[] = files.flatMap((file) => {
  const text = readFileSync(path.join(source, file), 'utf8');
  return [
    ...text.matchAll(/^(?:import|export)\s(type\s)?[^;]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gm),
  ].map((match) => ({
    file,
    folder: file.split('/')[0] ?? '',
    target: match[2] ?? match[3] ?? '',
    typeOnly: match[1] !== undefined,
  }));
});

const internal = imports
  .filter(({ target }) => target.startsWith('.'))
  .map((entry) => ({ ...entry, resolved: path.posix.join(path.posix.dirname(entry.file), entry.target) }));

describe('import laws', () => {
  it('finds the sources at all', () => {
    expect(imports.length).toBeGreaterThan(200);
  });

  it('lets each folder import only what it may know', () => {
    const broken = internal.filter(({ folder, resolved }) => {
      const target = resolved.split('/')[0] ?? '';
      return allowed[folder] !== undefined && target !== folder && !allowed[folder].includes(target);
    });
    expect(broken.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('has a law for every folder', () => {
    const free = new Set(['cli']);
    const folders = new Set(
      files.filter((file) => file.includes('/')).map((file) => file.split('/')[0] ?? ''),
    );
    expect([...folders].filter((folder) => !free.has(folder) && allowed[folder] === undefined)).toEqual([]);
  });

  it('keeps guarded packages in their folders', () => {
    const broken = imports.filter(({ folder, target }) =>
      Object.entries(guarded).some(
        ([name, folders]) =>
          (target === name || target.startsWith(name.endsWith('/') ? name : `${name}/`)) &&
          !folders.includes(folder),
      ),
    );
    expect(broken.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('reaches no native code from the server process', () => {
    const reached = reachable(['app.ts', 'cli/main.ts']);
    expect([...reached].filter((file) => file.startsWith('native/'))).toEqual([]);
    expect(reachable(['native/main.ts']).has('native/boot.ts')).toBe(true);
  });

  it('keeps the scheduler free of Node and of the protocol', () => {
    const broken = imports.filter(
      ({ folder, target }) => folder === 'scheduler' && target.startsWith('node:'),
    );
    expect(broken).toEqual([]);
  });

  it('imports nothing in a circle', () => {
    const graph = new Map<string, string[]>();
    for (const { file, resolved } of internal) graph.set(file, [...(graph.get(file) ?? []), resolved]);
    expect(findCycle(graph)).toEqual([]);
  });

  it('reads the environment and writes to the console in cli/ only', () => {
    const broken = files.filter((file) => {
      const text = readFileSync(path.join(source, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return !/^(cli|native|builtin\/generate)/.test(file) && /\bprocess\.env\b|\bconsole\./.test(text);
    });
    expect(broken).toEqual([]);
  });
});

function reachable(entries: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    waiting.push(
      ...internal.filter((entry) => entry.file === file && !entry.typeOnly).map((entry) => entry.resolved),
    );
  }
  return seen;
}

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const finished = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (finished.has(file)) return [];
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...trail, file]);
      if (cycle.length > 0) return cycle;
    }
    finished.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
