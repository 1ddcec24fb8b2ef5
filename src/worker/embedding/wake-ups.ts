/**
 * llama.cpp starts its threads anew for each step, and in every other step Linux puts the second one on the core of the
 * first, where it waits for some ten milliseconds although another core idles (seen in traces of the scheduler). A core
 * that wakes up and goes idle again takes such a thread over. Two timers wake this process while llama.cpp works.
 */
const WAKE_UPS_MS = [1, 3];

export async function withWakeUps(work: Promise<void>): Promise<void> {
  const timers = WAKE_UPS_MS.map((ms) => setTimeout(() => {}, ms));
  try {
    await work;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
