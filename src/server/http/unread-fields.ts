import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../lib/errors/svc-error.ts';
import { type Route, routes } from '../../wire/routes.ts';
import { checkIgnored, unknownFields } from '../api/generation/parameters.ts';
import { setNoteHeaders } from './answer-headers.ts';

/** They promise something of the answer, so a route that does not read them refuses them instead of naming them. */
const DEMANDS = ['svc_evidence', 'svc_exact', 'svc_any_order'] as const;

const bodyFields = ({ body }: Route): Readonly<Record<string, unknown>> =>
  (Reflect.get(Object(body), 'properties') ?? {}) as Readonly<Record<string, unknown>>;

export function refuseDemands(route: Route, body: unknown): void {
  const sent = Object(body) as Readonly<Record<string, unknown>>;
  const param = DEMANDS.find(
    (name) => !Object.hasOwn(bodyFields(route), name) && (sent[name] ?? false) !== false,
  );
  if (param === undefined) return;
  const readers = Object.values<Route>(routes).filter((each) => Object.hasOwn(bodyFields(each), param));
  const paths = readers.map(({ path }) => path).join(', ');
  const message = `${route.path} does not read ${param}, so its answer could not keep it; leave it out, or ask ${paths}.`;
  throw fail('unsupported_value', { param, message });
}

/** Of routes whose use case does not name them itself, as those that compute do. */
export function unreadNamer(
  route: Route,
  isStrict: boolean,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async ({ body }, reply) => {
    const ignored = unknownFields(body as object, bodyFields(route));
    checkIgnored(isStrict, ignored);
    setNoteHeaders(reply, { ignored });
  };
}
