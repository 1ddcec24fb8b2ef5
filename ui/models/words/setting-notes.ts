/** What the service has to say of a setting that was saved. Pure. */

/** The window that a model has where a larger one was asked for, as text; null: it has the one that was asked for. */
export function reducedWindow(note: string): string | null {
  const [, window] = /The window will be ([\d,]+) tokens and not/.exec(note) ?? [];
  return window?.replaceAll(',', '') ?? null;
}

/** Without the advice to unload a model, for one that is not loaded. */
export const withoutUnload = (note: string): string =>
  note.replaceAll(': unload the model to have it at once', '');
