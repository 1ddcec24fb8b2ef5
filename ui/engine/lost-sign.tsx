import { useEffect, useState } from 'preact/hooks';
import { clock, milliseconds } from '../parts/figures.ts';
import { lostSinceMs, reconnect } from '../service/engine-feed.ts';

/** What is shown is old: since when, and the way back. */
export function LostSign() {
  const since = lostSinceMs.value;
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    if (since === null) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [since]);
  if (since === null) return null;
  return (
    <div class="lost-sign">
      <p role="status">
        Connection lost at {clock(since)}. Below is the last known state; trying to reconnect.
      </p>
      <span aria-hidden="true">{milliseconds(Math.max(1000, nowMs - since))} ago</span>
      <button type="button" class="small" onClick={reconnect}>
        Reconnect now
      </button>
    </div>
  );
}
