/** Whether this text is a JSON value, and nothing else but white space around it. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
