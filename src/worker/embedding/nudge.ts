/**
 * The engine makes its threads anew for each step, and Linux puts the second one beside the first in every other step,
 * though another core idles, and leaves it waiting there for some ten milliseconds (seen in traces of the scheduler). A
 * core that wakes up and goes idle again takes such a thread over; so this process wakes up twice while the engine works.
 */
const NUDGES_MS = [1, 3];

export async function nudged(work: Promise<void>): Promise<void> {
  const timers = NUDGES_MS.map((ms) => setTimeout(() => {}, ms));
  try {
    await work;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
