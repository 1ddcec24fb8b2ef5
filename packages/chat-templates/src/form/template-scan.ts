/**
 * Finds the tags of a chat template, with quoted texts blanked out. One pass without backtracking, so that no
 * template makes the scan slow.
 */

export interface TemplateTag {
  /** The first word of a `{% … %}` tag, such as "if" or "endmacro"; empty for `{{ … }}`. */
  readonly word: string;
  readonly code: string;
}

export function scanTags(source: string): TemplateTag[] {
  const tags: TemplateTag[] = [];
  let at = source.indexOf('{');
  while (at >= 0 && at < source.length) {
    const kind = source[at + 1];
    if (kind === '#') {
      at = afterComment(source, at);
    } else if (kind === '%' || kind === '{') {
      const { code, next } = readCode(source, at + 2, kind === '%' ? '%' : '}');
      tags.push({ code, word: kind === '%' ? (/^[-+]?\s*(\w*)/.exec(code)?.[1] ?? '') : '' });
      at = next;
    } else {
      at += 1;
    }
    at = source.indexOf('{', at);
  }
  return tags;
}

function afterComment(source: string, at: number): number {
  const end = source.indexOf('#}', at + 2);
  return end < 0 ? source.length : end + 2;
}

/** The closing mark does not count inside quotes or a dictionary. */
function readCode(source: string, from: number, closing: string): { code: string; next: number } {
  const parts: string[] = [];
  let at = from;
  let partStart = from;
  let braces = 0;
  while (at < source.length) {
    const letter = source[at];
    if (letter === closing && source[at + 1] === '}' && (closing === '%' || braces === 0)) break;
    if (letter === '{') {
      braces += 1;
    } else if (letter === '}') {
      braces -= 1;
    } else if (letter === "'" || letter === '"') {
      parts.push(source.slice(partStart, at), "''");
      at = closingQuote(source, at, letter);
      partStart = at + 1;
    }
    at += 1;
  }
  parts.push(source.slice(partStart, at));
  return { code: parts.join(''), next: at + 2 };
}

function closingQuote(source: string, from: number, quote: string): number {
  let at = from + 1;
  while (at < source.length && source[at] !== quote) at += source[at] === '\\' ? 2 : 1;
  return at;
}
