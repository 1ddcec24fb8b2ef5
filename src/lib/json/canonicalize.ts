/** Canonical JSON (RFC 8785); undefined if JSON cannot express the value. */
import canonicalizeModule from 'canonicalize';

// The package is CommonJS with an ES-style type file, so its type is one level too deep.
export const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined;
