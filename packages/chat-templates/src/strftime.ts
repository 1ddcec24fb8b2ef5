const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

interface Fields {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** A pinned clock is formatted in UTC and prints the same everywhere; the current time is local. */
export function strftime(format: string, pinnedMs: number | null): string {
  const fields = pinnedMs === null ? localFields(new Date()) : utcFields(new Date(pinnedMs));
  return expandAll(format, fields);
}

function expandAll(format: string, fields: Fields): string {
  return format.replace(/%-?[a-zA-Z%]/g, (directive) => expand(directive, fields));
}

function dayOfYear({ year, month, day }: Fields): number {
  return Math.round((Date.UTC(year, month, day) - Date.UTC(year, 0, 0)) / 86_400_000);
}

function expand(directive: string, f: Fields): string {
  const bare = directive.startsWith('%-');
  const two = (value: number): string => (bare ? String(value) : String(value).padStart(2, '0'));
  switch (directive.at(-1)) {
    case 'Y':
      return String(f.year);
    case 'y':
      return two(f.year % 100);
    case 'm':
      return two(f.month + 1);
    case 'd':
      return two(f.day);
    case 'B':
      return MONTHS[f.month] ?? '';
    case 'b':
      return (MONTHS[f.month] ?? '').slice(0, 3);
    case 'A':
      return DAYS[f.weekday] ?? '';
    case 'a':
      return (DAYS[f.weekday] ?? '').slice(0, 3);
    case 'H':
      return two(f.hour);
    case 'I':
      return two(f.hour % 12 === 0 ? 12 : f.hour % 12);
    case 'M':
      return two(f.minute);
    case 'S':
      return two(f.second);
    case 'p':
      return f.hour < 12 ? 'AM' : 'PM';
    case 'j':
      return bare ? String(dayOfYear(f)) : String(dayOfYear(f)).padStart(3, '0');
    case 'e':
      return bare ? String(f.day) : String(f.day).padStart(2);
    case 'w':
      return String(f.weekday);
    case 'F':
      return expandAll('%Y-%m-%d', f);
    case 'T':
      return expandAll('%H:%M:%S', f);
    case 'R':
      return expandAll('%H:%M', f);
    case 'D':
      return expandAll('%m/%d/%y', f);
    case '%':
      return '%';
    default:
      return directive;
  }
}

function localFields(date: Date): Fields {
  return {
    year: date.getFullYear(),
    month: date.getMonth(),
    day: date.getDate(),
    weekday: date.getDay(),
    hour: date.getHours(),
    minute: date.getMinutes(),
    second: date.getSeconds(),
  };
}

function utcFields(date: Date): Fields {
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}
