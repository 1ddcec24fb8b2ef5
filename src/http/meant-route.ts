/** Finds the route that a request means whose client has a wrong base address, such as one without /v1. */
import { type Route, routes } from '../wire/routes.ts';

interface Ending {
  readonly route: Route;
  /** /v1 or nothing. */
  readonly base: string;
  /** The end of a path that means this route, with or without the base. */
  readonly pattern: RegExp;
}

const table: Readonly<Record<string, Route>> = routes;
const ENDINGS: readonly Ending[] = Object.values(table)
  .filter(({ hidden, path }) => hidden !== true && path !== '/')
  .map((route) => {
    const base = route.path.startsWith('/v1/') ? '/v1' : '';
    const own = route.path.slice(base.length).replaceAll(/[.+?()]/g, String.raw`\$&`);
    const filled = own.replace('*', '.+').replaceAll(/:\w+/g, '[^/]+');
    return { route, base, pattern: new RegExp(`(?:${base})?(${filled})$`) };
  });

const hasBlanks = ({ path }: Route): boolean => /[*:]/.test(path);

/**
 * The method and path of that route; undefined if no route's path ends the path. A path without parameters is closer
 * than any other, then a longer one, then one of the same method. With another method, parameters match nothing.
 */
export function meantRoute(method: string, path: string): string | undefined {
  const plain = path.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '');
  const found = ENDINGS.flatMap(({ route, base, pattern }) => {
    const [ending, own] = pattern.exec(plain) ?? [];
    const isSameMethod = route.method === method;
    if (ending === undefined || (!isSameMethod && hasBlanks(route))) return [];
    const meant = `${base}${own}`;
    const rank = [!hasBlanks(route), ending.length, isSameMethod, ending === meant].map(Number);
    return [{ text: `${route.method} ${meant}`, rank }];
  });
  return found.toSorted((one, other) => compare(other.rank, one.rank))[0]?.text;
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at === -1 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
