/** Where a link of a model may lead: to a page or to mail, as the user decides by a click. Pure. */
const SCHEMES = new Set(['http:', 'https:', 'mailto:']);
const MOST_CHARS = 2048;

/** The address as a browser reads it, or null for what is no link here. Relative ones would be of this service. */
export function safeAddress(href: string): string | null {
  if (href.length > MOST_CHARS) return null;
  try {
    const url = new URL(href);
    // What stands before an @ makes one host look like another.
    const isDisguised = url.username !== '' || url.password !== '';
    return SCHEMES.has(url.protocol) && !isDisguised ? url.href : null;
  } catch {
    return null;
  }
}
