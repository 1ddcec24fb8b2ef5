/**
 * Validates requests against the schemas of their routes with code that the build generates, so that nothing is
 * compiled at run time. It is loaded after the service listens, because it would delay the first /health.
 */
import { pathToFileURL } from 'node:url';
import type { ValidateFunction, ErrorObject } from 'ajv/dist/2020.js';
import type { FastifySchemaCompiler } from 'fastify';
import { builtFile } from '../../lib/base/package-folder.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';

type Part = 'body' | 'querystring';
type RouteCheck = Pick<ValidateFunction, 'errors'> & ((value: unknown) => boolean);
type RouteChecks = Readonly<Record<`${string} ${Part}`, RouteCheck>>;

let checks: RouteChecks | undefined;
let loading: Promise<void> | undefined;

export function loadChecks(): Promise<void> {
  loading ??= load();
  return loading;
}

export function areChecksLoaded(): boolean {
  return checks !== undefined;
}

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

export async function requireBody(route: string, body: unknown): Promise<void> {
  await loadChecks();
  const check = checks?.[`${route} body`];
  if (check === undefined) throw new Error(`there is no check of the body of ${route}`);
  if (!check(body)) throw violation(check.errors, 'body');
}

async function load(): Promise<void> {
  const built = pathToFileURL(builtFile('server/http/route-checks.js')).href;
  const { routeChecks } = (await import(built)) as { routeChecks: RouteChecks };
  checks = routeChecks;
}

function violation(errors: readonly ErrorObject[] | null | undefined, where: string): SvcError {
  const first = errors?.[0];
  if (!first) return fail('invalid_request', { message: `The ${where} is not valid.` });
  const field = fieldName(first);
  const message = field === '' ? `The ${where} ${demand(first)}.` : `${field} ${demand(first)}.`;
  return fail('invalid_request', { message, ...(field === '' ? {} : { param: field }) });
}

/** `/messages/0/role` → `messages[0].role`. A missing member is named itself, not its parent. */
function fieldName(error: ErrorObject): string {
  const parts = error.instancePath.split('/').slice(1).map(unescapePointer);
  if (error.keyword === 'required') parts.push(String(error.params['missingProperty']));
  return parts
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part.slice(0, 80)}`))
    .join('')
    .replace(/^\./, '');
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function demand(error: ErrorObject): string {
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return 'is required; add it to the request';
    case 'type':
      return `must be ${typeNames(params['type'])}`;
    case 'enum':
      return `must be one of ${allowed(params['allowedValues'])}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'minimum':
      return `must be at least ${params['limit']}`;
    case 'exclusiveMinimum':
      return `must be more than ${params['limit']}`;
    case 'maximum':
      return `must be at most ${params['limit']}`;
    case 'minItems':
      return `must have at least ${params['limit']} item${params['limit'] === 1 ? '' : 's'}`;
    case 'maxItems':
      return `must have at most ${params['limit']} item${params['limit'] === 1 ? '' : 's'}`;
    case 'minLength':
      return params['limit'] === 1 ? 'must not be empty' : `must have at least ${params['limit']} characters`;
    case 'maxLength':
      return `must have at most ${params['limit']} characters`;
    case 'maxProperties':
      return `must have at most ${params['limit']} members`;
    default:
      return error.message ?? 'is not valid';
  }
}

function typeNames(type: unknown): string {
  const names = (Array.isArray(type) ? type : String(type).split(',')).filter((name) => name !== 'null');
  return names.map((name) => `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`).join(' or ');
}

function allowed(values: unknown): string {
  return (values as unknown[]).filter((value) => value !== null).join(', ');
}
