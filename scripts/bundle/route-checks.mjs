/**
 * Writes the check of what each route takes as code: ajv would need tens of milliseconds for each, on the event loop, at
 * the first request of its route. The same schemas give the same bytes.
 */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { writeBundle } from './bundle.mjs';

/** Values are never coerced and unknown members never stripped: what is checked is what was sent. */
const OPTIONS = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  strict: false,
  verbose: false,
  // Lengths are counted as JavaScript does, or a text of megabytes would be walked to learn that it is too long. There is
  // no other option for that yet, and whoever builds need not read that this one will go.
  unicode: false,
  logger: { ...console, warn: (line) => (line.includes('option unicode') ? undefined : console.warn(line)) },
  code: { source: true, esm: true, optimize: 2 },
};

export async function bundleRouteChecks(root, sources, folder) {
  const { routes } = await import(pathToFileURL(path.join(sources, 'wire', 'routes.js')).href);
  // The bundle names it: its place must not depend on the folder.
  const entry = path.join(sources, 'server', 'http', 'checks-of-routes.js');
  writeFileSync(entry, checksOf(Object.values(routes)));
  await writeBundle(folder, { input: { 'route-checks': entry }, cwd: root, minify: true });
  rmSync(entry);
}

/** A module with a function for each schema, and a table of them by the name of the route and the part of its requests. */
function checksOf(routes) {
  const ajv = new Ajv(OPTIONS);
  // Several routes may take the same.
  const idOf = new Map();
  const rows = [];
  for (const { name, body, query } of routes) {
    for (const [part, schema] of Object.entries({ body, querystring: query })) {
      if (schema === undefined) continue;
      if (!idOf.has(schema)) {
        idOf.set(schema, `${name}_${part}`);
        ajv.addSchema(schema, `${name}_${part}`);
      }
      rows.push(`  '${name} ${part}': ${idOf.get(schema)},\n`);
    }
  }
  const ids = Object.fromEntries([...idOf.values()].map((id) => [id, id]));
  return `${standaloneCode.default(ajv, ids)}\nexport const routeChecks = {\n${rows.join('')}};\n`;
}
