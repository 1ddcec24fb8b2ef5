/** Whether the text is exactly one JSON value, with optional white space around it. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
