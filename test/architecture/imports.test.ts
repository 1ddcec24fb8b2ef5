/** Holds the sources to laws.ts: which room may know which, and where the dangerous modules may be loaded. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  guardedPackages,
  kernelReads,
  layeredFolders,
  layeredRooms,
  processRooms,
  pureRooms,
  requestRooms,
  rooms,
} from './laws.ts';
import { exportsOf, files, type Import, imports, isWithin, packageNames, roomOf, textOf } from './sources.ts';

/** Imports that leave their room, with the permission that lets them, if there is one. */
const crossings = imports.flatMap((entry) => {
  const room = roomOf(entry.file);
  if (entry.resolved === null || room === null || roomOf(entry.resolved) === room) return [];
  const permission = rooms[room]?.find((allowed) => allowed === roomOf(entry.resolved ?? ''));
  return [{ ...entry, room, permission }];
});

const packageImports = imports.filter(({ resolved }) => resolved === null);
const isPackage = (target: string, name: string): boolean =>
  target === name || target.startsWith(name.endsWith('/') ? name : `${name}/`);
const written = (entries: readonly Import[]): string[] =>
  entries.map(({ file, target }) => `${file} → ${target}`);

describe('import laws', () => {
  it('finds the sources at all', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(crossings.length).toBeGreaterThan(200);
  });

  it('has a row for every file', () => {
    expect(files.filter((file) => roomOf(file) === null)).toEqual([]);
  });

  it('permits every import that leaves its room', () => {
    expect(written(crossings.filter(({ permission }) => permission === undefined))).toEqual([]);
  });

  it('holds no permission that nothing uses', () => {
    const used = new Set(crossings.map(({ room, permission }) => `${room} → ${permission}`));
    const held = Object.entries(rooms).flatMap(([room, allowed]) => allowed.map((to) => `${room} → ${to}`));
    expect(held.filter((arrow) => !used.has(arrow))).toEqual([]);
  });

  it('uses a package of this repository by the files that it exports', () => {
    const inner = imports.filter(({ file, resolved }) => {
      const [, name = ''] = /^packages\/([^/]+)\//.exec(resolved ?? '') ?? [];
      return name !== '' && !isWithin(file, `packages/${name}`) && !exportsOf(name).has(resolved ?? '');
    });
    expect(written(inner)).toEqual([]);
  });

  it('exports no file of a package that nothing outside uses', () => {
    const used = new Set(
      imports.flatMap(({ file, resolved }) => (resolved === null ? [] : [`${file}\n${resolved}`])),
    );
    const unused = packageNames.flatMap((name) =>
      [...exportsOf(name)].filter(
        (exported) =>
          ![...used].some((entry) => {
            const [file = '', resolved] = entry.split('\n');
            return resolved === exported && !isWithin(file, `packages/${name}`);
          }),
      ),
    );
    expect(unused).toEqual([]);
  });

  it('keeps guarded packages in their rooms', () => {
    const broken = packageImports.filter(({ file, target }) =>
      Object.entries(guardedPackages).some(
        ([name, allowed]) => isPackage(target, name) && !allowed.some((room) => isWithin(file, room)),
      ),
    );
    expect(written(broken)).toEqual([]);
  });

  it('guards no package from a room that does not import it', () => {
    const unused = Object.entries(guardedPackages).flatMap(([name, allowed]) =>
      allowed
        .filter(
          (room) =>
            !packageImports.some(({ file, target }) => isPackage(target, name) && isWithin(file, room)),
        )
        .map((room) => `${room} → ${name}`),
    );
    expect(unused).toEqual([]);
  });

  it('reaches no code of the child process from the server', () => {
    const reached = reachable(['server/app.ts', 'cli/main.ts']);
    expect([...reached].filter((file) => isWithin(file, 'worker'))).toEqual([]);
    expect(reachable(['worker/main.ts']).has('worker/addon/boot.ts')).toBe(true);
  });

  it('keeps the native library behind types, but for the entries of the child process', () => {
    const entries = ['worker/main.ts', 'worker/sealed.ts'];
    const others = files.filter(
      (file) => isWithin(file, 'worker') && !isWithin(file, 'worker/addon') && !entries.includes(file),
    );
    const bound = others.filter((file) =>
      [...reachable([file])].some((reached) => isWithin(reached, 'worker/addon')),
    );
    expect(others.length).toBeGreaterThan(40);
    expect(bound).toEqual([]);
  });

  it('keeps Node out of the rooms that only decide', () => {
    const broken = packageImports.filter(
      ({ file, target }) => target.startsWith('node:') && pureRooms.some((room) => isWithin(file, room)),
    );
    expect(written(broken)).toEqual([]);
  });

  it('makes no blocking file call where requests pass', () => {
    const broken = files.filter(
      (file) => requestRooms.some((room) => isWithin(file, room)) && /\b[a-z]\w*Sync\(/.test(textOf(file)),
    );
    expect(broken).toEqual(kernelReads);
  });

  it('imports nothing in a circle', () => {
    const graph = new Map<string, string[]>();
    for (const { file, resolved } of imports)
      if (resolved !== null) graph.set(file, [...(graph.get(file) ?? []), resolved]);
    expect(findCycle(graph)).toEqual([]);
  });

  it.each(layeredFolders)('leads one way through the rooms of %s', (folder) => {
    const graph = new Map(
      Object.entries(rooms)
        .filter(([room]) => isWithin(room, folder))
        .map(([room, allowed]) => [room, allowed.filter((target) => isWithin(target, folder))]),
    );
    expect(graph.size).toBeGreaterThan(1);
    expect(findCycle(graph)).toEqual([]);
  });

  it.each(layeredRooms)('leads one way through the folders below %s', (room) => {
    // A file that stands in the room itself is a layer of its own.
    const layerOf = (file: string): string =>
      path.posix.dirname(file) === room ? file : path.posix.dirname(file);
    const graph = new Map<string, string[]>();
    for (const { file, resolved } of imports) {
      if (resolved === null || !isWithin(file, room) || !isWithin(resolved, room)) continue;
      const [from, to] = [layerOf(file), layerOf(resolved)];
      if (from !== to) graph.set(from, [...(graph.get(from) ?? []), to]);
    }
    expect(graph.size).toBeGreaterThan(0);
    expect(findCycle(graph)).toEqual([]);
  });

  it('reads the environment and writes to the console in a few rooms only', () => {
    const broken = files.filter((file) => {
      const code = textOf(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return !processRooms.some((room) => isWithin(file, room)) && /\bprocess\.env\b|\bconsole\./.test(code);
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
    const next = imports.filter((entry) => entry.file === file && !entry.isTypeOnly);
    waiting.push(...next.flatMap(({ resolved }) => (resolved === null ? [] : [resolved])));
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
