/**
 * Patterns of formats. If ajv-formats knows a format, the pattern allows exactly what ajv-formats accepts in the
 * check of the answer; for other formats the check uses the pattern itself.
 */
const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const MONTH_DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))';
const DATE = `(?:\\d{4}-${MONTH_DAY}|${LEAP_YEAR}-02-29)`;
const SPLIT_SECOND = '(?:\\.\\d+)?';
const CLOCK = `(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d${SPLIT_SECOND}`;
const ZONE = '(?:[Zz]|[+-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?)';
const TIME = `(?:${CLOCK}${ZONE}|${leapSeconds()})`;
const ISO_TIME = `(?:${CLOCK}${ZONE}?|${leapSeconds()}|23:59:60${SPLIT_SECOND})`;
const DURATION_DATE = '(?:\\d+Y(?:\\d+M)?(?:\\d+D)?|\\d+M(?:\\d+D)?|\\d+D)';
const SECONDS = `\\d+${SPLIT_SECOND}S`;
const DURATION_TIME = `T(?:\\d+H(?:\\d+M)?(?:${SECONDS})?|\\d+M(?:${SECONDS})?|${SECONDS})`;
const DURATION = `P(?:${DURATION_DATE}(?:${DURATION_TIME})?|${DURATION_TIME}|\\d+W)`;

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const LOCAL = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const DOMAIN_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const EMAIL = `${LOCAL}(?:\\.${LOCAL})*@(?:${DOMAIN_LABEL}\\.)+${DOMAIN_LABEL}`;
/** Excluded from every part of an international name or address. */
const SPECIAL = '\\s"(),:;<>@[\\\\\\]';
const IDN_LABEL = `[^${SPECIAL}./?#]{1,63}`;

const HEX = '[0-9A-Fa-f]';
const H16 = `${HEX}{1,4}`;
const ESCAPED = `%${HEX}{2}`;
const PLAIN = "A-Za-z0-9\\-._~!$&'()*+,;=";
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;
const IPV6 = ipv6();
const SCHEME = '[A-Za-z][A-Za-z0-9+\\-.]*:';
const { path: URI_PATH, query: URI_QUERY } = uriParts('');
/** ajv-formats allows a quotation mark in references only. */
const { path: REFERENCE_PATH, query: REFERENCE_QUERY } = uriParts('"');
const URI = `${SCHEME}${URI_PATH}${URI_QUERY}`;
const IRI_CHARS = '[^\\s"<>\\\\^`{|}]';
const VARIABLE = `(?:[A-Za-z0-9_]|${ESCAPED})+(?::[1-9][0-9]{0,3}|\\*)?`;
const EXPRESSION = `\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\}`;

const UUID = `${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}`;
const BASE64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';
const BASE64URL = '(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?';
const POINTER = '(?:/(?:[^~/]|~0|~1)*)*';
const PREFIX4 = '/(?:[12]?\\d|3[0-2])';
const PREFIX6 = '/(?:\\d\\d?|1[01]\\d|12[0-8])';
const NETWORK4 = `${IPV4}(?:${PREFIX4})?`;
const NETWORK6 = `(?:${IPV6})(?:${PREFIX6})?`;

const KNOWN_FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  uuid: `(?:[Uu][Rr][Nn]:[Uu][Uu][Ii][Dd]:)?${UUID}`,
  email: EMAIL,
  hostname: `${LABEL}(?:\\.${LABEL})*\\.?`,
  ipv4: IPV4,
  ipv6: IPV6,
  uri: URI,
  'uri-reference': `(?:${SCHEME})?(?:${REFERENCE_PATH})?${REFERENCE_QUERY}`,
  'uri-template': `(?:[^\\x00-\\x20"'<>%\\\\^\`{|}]|${ESCAPED}|${EXPRESSION})*`,
  'json-pointer': POINTER,
  'json-pointer-uri-fragment': `#(?:/(?:[A-Za-z0-9_\\-.!$&'()*+,;:=@]|${ESCAPED}|~0|~1)*)*`,
  'relative-json-pointer': `(?:0|[1-9][0-9]*)(?:#|${POINTER})`,
};

/**
 * Formats that the check also validates by these patterns, because ajv-formats does not know them or deviates: hours
 * past 23 next to leap seconds, no fractions of a second in durations, any second line after base64, no hosts of a
 * local network.
 */
const OTHER_FORMATS: Readonly<Record<string, string>> = {
  time: TIME,
  'date-time': `${DATE}[Tt\\s]${TIME}`,
  'iso-time': ISO_TIME,
  'iso-date-time': `${DATE}[Tt\\s]${ISO_TIME}`,
  duration: DURATION,
  'idn-email': `[^${SPECIAL}]+@${IDN_LABEL}(?:\\.${IDN_LABEL})*`,
  'idn-hostname': `${IDN_LABEL}(?:\\.${IDN_LABEL})*\\.?`,
  url: URI,
  iri: `${SCHEME}${IRI_CHARS}*`,
  'iri-reference': `${IRI_CHARS}*`,
  byte: BASE64,
  base64: BASE64,
  base64url: BASE64URL,
  ipvanyaddress: `(?:${IPV4}|${IPV6})`,
  ipvanyinterface: `(?:${NETWORK4}|${NETWORK6})`,
  ipvanynetwork: `(?:${NETWORK4}|${NETWORK6})`,
  ipv4network: NETWORK4,
  ipv4interface: NETWORK4,
  ipv6network: NETWORK6,
  ipv6interface: NETWORK6,
  ...Object.fromEntries(
    [1, 3, 4, 5, 6, 7, 8].map((version) => [
      `uuid${version}`,
      `${HEX}{8}-${HEX}{4}-${version}${HEX}{3}-[89ABab]${HEX}{3}-${HEX}{12}`,
    ]),
  ),
};

function uriParts(quote: '' | '"'): { readonly path: string; readonly query: string } {
  const host = `(?:\\[(?:${uriIpv6()}|[Vv]${HEX}+\\.[${PLAIN}:]+)\\]|(?:[${PLAIN}${quote}]|${ESCAPED})*)`;
  const authority = `(?:(?:[${PLAIN}:]|${ESCAPED})*@)?${host}(?::\\d*)?`;
  const char = `(?:[${PLAIN}${quote}:@]|${ESCAPED})`;
  const segments = `(?:/${char}*)*`;
  const rootless = `${char}+${segments}`;
  const rest = `(?:[${PLAIN}${quote}:@/?]|${ESCAPED})*`;
  return {
    path: `(?://?${authority}${segments}|/(?:${rootless})?|${rootless})`,
    query: `(?:\\?${rest})?(?:#${rest})?`,
  };
}

/** Leap seconds, which end a day in UTC, with whole-hour offsets. */
function leapSeconds(): string {
  const two = (hours: number): string => String(hours).padStart(2, '0');
  const at = Array.from({ length: 24 }, (_, hour) => {
    const zones =
      hour === 23 ? '[Zz]|[+-]00(?::?00)?' : `(?:[+]${two(hour + 1)}|-${two(23 - hour)})(?::?00)?`;
    return `${two(hour)}:59:60${SPLIT_SECOND}(?:${zones})`;
  });
  return `(?:${at.join('|')})`;
}

/** Eight groups, the last two optionally in dotted form, with at most one omitted run of groups. */
function ipv6(): string {
  const left = (count: number): string => `(?::${H16}){0,${count}}`;
  const ways = Array.from({ length: 6 }, (_, index) => {
    const groups = 6 - index;
    const rest =
      groups === 6
        ? `(?::${H16}|${IPV4}|:)`
        : `(?:(?::${H16}){1,${7 - groups}}|${left(5 - groups)}:${IPV4}|:)`;
    return `(?:${H16}:){${groups}}${rest}`;
  });
  const none = `:(?:(?::${H16}){1,7}|${left(5)}:${IPV4}|:)`;
  return `(?:(?:${H16}:){7}(?:${H16}|:)|${ways.join('|')}|${none})`;
}

/** RFC 3986, IPv6address. */
function uriIpv6(): string {
  const octet = '(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)';
  const last = `(?:${H16}:${H16}|${octet}(?:\\.${octet}){3})`;
  const before = (count: number): string =>
    count === 0 ? `(?:${H16})?` : `(?:(?:${H16}:){0,${count}}${H16})?`;
  const gaps = [5, 4, 3, 2, 1, 0].map((groups, index) =>
    index === 0 ? `::(?:${H16}:){5}` : `${before(index - 1)}::(?:${H16}:){${groups}}`,
  );
  return `(?:(?:(?:${H16}:){6}|${gaps.join('|')})${last}|${before(5)}::${H16}|${before(6)}::)`;
}

function anchored(formats: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(formats).map(([name, source]) => [name, `^(?:${source})$`]));
}

/** Formats that the check of a finished answer takes from here. */
export const OWN_FORMATS = anchored(OTHER_FORMATS);
export const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  ...anchored(KNOWN_FORMATS),
  ...OWN_FORMATS,
};

/** Formats that the grammar leaves to the check: the length of a whole host name, and regular expressions. */
export const CHECKED_FORMATS: ReadonlySet<string> = new Set(['hostname', 'regex']);

/** Formats that only describe the purpose of a text, or how a program stores the value. */
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
  'unix-time',
  'timestamp',
]);

/** Integer ranges of numeric formats. */
export const INTEGER_FORMATS: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int8: [-(2n ** 7n), 2n ** 7n - 1n],
  int16: [-(2n ** 15n), 2n ** 15n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0n, 2n ** 8n - 1n],
  uint16: [0n, 2n ** 16n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
  uint: [0n, 2n ** 64n - 1n],
};

export function exactBounds(format: string): readonly bigint[] {
  return Object.hasOwn(INTEGER_FORMATS, format) ? (INTEGER_FORMATS[format] ?? []) : [];
}

export function integerBounds(format: unknown): readonly [number, number] | null {
  const [low, high] = typeof format === 'string' ? exactBounds(format) : [];
  return low === undefined || high === undefined ? null : [Number(low), Number(high)];
}

export function formatPattern(format: string): string | null {
  return Object.hasOwn(FORMAT_PATTERNS, format) ? (FORMAT_PATTERNS[format] ?? null) : null;
}
