/** Runs something as a user without rights, where the tests run as root, whom permissions do not bind. */
export const NOBODY = 65_534;

export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
