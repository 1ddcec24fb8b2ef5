/** The formats that are enforced. Each pattern accepts a part of the format, never more than it. */
const MONTH_DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))';
const DATE = `[12]\\d{3}-${MONTH_DAY}`;
const CLOCK = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?';
const TIME = `${CLOCK}(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)`;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?';
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]\\d|\\d)';
const HOST = `(?:${LABEL}\\.){0,3}${LABEL}`;
const PATH = '(?:/[A-Za-z0-9._~-]{0,60}){0,8}';
const QUERY = '(?:\\?[A-Za-z0-9._~=&-]{0,200})?';
const EMAIL = `[A-Za-z0-9_+-]{1,30}(?:\\.[A-Za-z0-9_+-]{1,30}){0,2}@(?:${LABEL}\\.){1,3}[a-z]{2,10}`;
const URI = `https?://${HOST}(?::[1-9]\\d{0,3})?${PATH}${QUERY}`;
const IPV6 = '[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7}|(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?::[0-9a-f]{1,4}';
const DURATION =
  'P(?:\\d{1,4}W|\\d{1,4}D(?:T\\d{1,4}[HMS])?|\\d{1,4}Y(?:\\d{1,4}M(?:\\d{1,4}D)?)?|\\d{1,4}M(?:\\d{1,4}D)?|T(?:\\d{1,4}H(?:\\d{1,4}M(?:\\d{1,4}S)?)?|\\d{1,4}M(?:\\d{1,4}S)?|\\d{1,4}S))';
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const BASE64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';
const BASE64URL = '(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}|[A-Za-z0-9_-]{3})?';
const POINTER = '(?:/(?:[A-Za-z0-9_.-]|~0|~1){0,40}){0,12}';

export const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  time: `^${TIME}$`,
  'date-time': `^${DATE}T${TIME}$`,
  duration: `^${DURATION}$`,
  uuid: `^${UUID}$`,
  email: `^${EMAIL}$`,
  'idn-email': `^${EMAIL}$`,
  hostname: `^${HOST}$`,
  'idn-hostname': `^${HOST}$`,
  ipv4: `^(?:${OCTET}\\.){3}${OCTET}$`,
  ipv6: `^(?:${IPV6})$`,
  uri: `^${URI}$`,
  url: `^${URI}$`,
  iri: `^${URI}$`,
  'uri-reference': `^(?:${URI}|[a-z0-9._-]{1,60}${PATH}${QUERY}|/[A-Za-z0-9._~-]{1,60}${PATH}${QUERY})$`,
  'iri-reference': `^(?:${URI}|[a-z0-9._-]{1,60}${PATH}${QUERY}|/[A-Za-z0-9._~-]{1,60}${PATH}${QUERY})$`,
  'uri-template': `^${URI}(?:/\\{[a-z]{1,20}\\}){0,3}$`,
  'json-pointer': `^${POINTER}$`,
  'relative-json-pointer': `^(?:0|[1-9]\\d{0,2})(?:#|${POINTER})$`,
  regex: '^\\^?[A-Za-z0-9 _-]{1,60}\\$?$',
  byte: `^${BASE64}$`,
  base64: `^${BASE64}$`,
  base64url: `^${BASE64URL}$`,
  // What pydantic writes.
  ipvanyaddress: `^(?:${OCTET}\\.){3}${OCTET}$`,
  ipvanyinterface: `^(?:${OCTET}\\.){3}${OCTET}/(?:[12]?\\d|3[0-2])$`,
  ipvanynetwork: `^(?:${OCTET}\\.){3}0/(?:24|32)$`,
  ipv4network: `^(?:${OCTET}\\.){3}0/(?:24|32)$`,
  ipv4interface: `^(?:${OCTET}\\.){3}${OCTET}/(?:[12]?\\d|3[0-2])$`,
  ipv6network: '^[0-9a-f]{1,4}::/(?:16|32|48|64)$',
  ipv6interface: '^[0-9a-f]{1,4}::[0-9a-f]{1,4}/(?:16|32|48|64)$',
  uuid1: '^[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
  uuid3: '^[0-9a-f]{8}-[0-9a-f]{4}-3[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
  uuid4: '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
  uuid5: '^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
};

/** Formats that only say what a text is for, or how a program stores the value. */
export const FREE_FORMATS: ReadonlySet<string> = new Set([
  'binary',
  'password',
  'path',
  'file-path',
  'directory-path',
  'multi-host-uri',
  'html',
  'markdown',
  'textarea',
  'text',
  'string',
  'char',
  'commonmark',
  'json-string',
  'decimal',
  'float',
  'double',
  'number',
]);

/** Bounds that a format gives to integers. */
export const INTEGER_FORMATS: Readonly<Record<string, readonly [number, number]>> = {
  int8: [-(2 ** 7), 2 ** 7 - 1],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(10 ** 15 - 1), 10 ** 15 - 1],
  uint8: [0, 2 ** 8 - 1],
  uint16: [0, 2 ** 16 - 1],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, 10 ** 15 - 1],
  uint: [0, 10 ** 15 - 1],
  // Milliseconds or seconds since 1970.
  'unix-time': [0, 10 ** 13 - 1],
  timestamp: [0, 10 ** 13 - 1],
};
