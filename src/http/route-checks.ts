/**
 * What requests carry, held to the schemas of their routes by code that the build makes of these, so that nothing is
 * compiled while the service serves. It is loaded when the service listens, as it would delay the first /health.
 */
import { pathToFileURL } from 'node:url';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifySchemaCompiler } from 'fastify';
import { builtFile } from '../lib/base/package-folder.ts';
import { violation } from './validation.ts';

type Part = 'body' | 'querystring';
type RouteCheck = Pick<ValidateFunction, 'errors'> & ((value: unknown) => boolean);
type RouteChecks = Readonly<Record<`${string} ${Part}`, RouteCheck>>;

let checks: RouteChecks | undefined;
let loading: Promise<void> | undefined;

/** Until this is over, no request may be looked at that carries anything. */
export function loadChecks(): Promise<void> {
  loading ??= load();
  return loading;
}

export function areChecksLoaded(): boolean {
  return checks !== undefined;
}

/** Hands fastify the checks of the route of that name. */
export function checkCompiler(route: string): FastifySchemaCompiler<unknown> {
  return ({ httpPart }) => {
    const part = httpPart as Part;
    const where = part === 'body' ? 'body' : 'query';
    return (value: unknown) => {
      const check = checks?.[`${route} ${part}`];
      if (check === undefined) throw new Error(`there is no check of the ${where} of ${route}`);
      return check(value) ? { value } : { error: violation(check.errors, where) };
    };
  };
}

/** Throws what the route of that name would refuse a body with. */
export async function requireBody(route: string, body: unknown): Promise<void> {
  await loadChecks();
  const check = checks?.[`${route} body`];
  if (check === undefined) throw new Error(`there is no check of the body of ${route}`);
  if (!check(body)) throw violation(check.errors, 'body');
}

async function load(): Promise<void> {
  const built = pathToFileURL(builtFile('http/route-checks.js')).href;
  const { routeChecks } = (await import(built)) as { routeChecks: RouteChecks };
  checks = routeChecks;
}
