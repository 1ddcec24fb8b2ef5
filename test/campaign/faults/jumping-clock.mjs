// Loaded before a service: the time of day is off by as many milliseconds as the file says that JUMPING_CLOCK names. The
// monotonic clock goes on as it does when somebody sets the clock of a machine.
import { readFileSync } from 'node:fs';

const file = process.env.JUMPING_CLOCK;
const { now } = Date;
const OriginalDate = Date;
const offset = () => Number(readFileSync(file, 'utf8')) || 0;
globalThis.Date = class extends OriginalDate {
  constructor(...given) {
    if (given.length === 0) super(now() + offset());
    else super(...given);
  }

  static now() {
    return now() + offset();
  }
};
