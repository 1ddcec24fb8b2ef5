/**
 * Preloaded into a worker (node --import): writes one line of JSON for each native call, with the rows as the native
 * context itself gets them, and one for each message to the server. It wraps the addon's class and the channel, so the
 * worker's own code runs unchanged.
 */
import { appendFileSync } from 'node:fs';

const write = (line) => appendFileSync(process.env.HEARTH_NATIVE_RECORD, `${JSON.stringify(line)}\n`);

const load = process.dlopen;
process.dlopen = (module, ...rest) => {
  load.call(process, module, ...rest);
  const { AddonContext } = module.exports;
  if (AddonContext === undefined) return;
  module.exports.AddonContext = class extends AddonContext {
    #rows = [];

    initBatch(...args) {
      this.#rows = [];
      return super.initBatch(...args);
    }

    addToBatch(sequence, position, tokens, logitsOf) {
      this.#rows.push({ sequence, position, rows: tokens.length, logits: logitsOf.length });
      return super.addToBatch(sequence, position, tokens, logitsOf);
    }

    decodeBatch(...args) {
      write({ call: this.#rows });
      return super.decodeBatch(...args);
    }
  };
};

const send = process.send;
process.send = (message, ...rest) => {
  const events = message.events?.map(({ jobId, event }) => ({ jobId, type: event.type })) ?? [];
  write({ message: message.type, events });
  return send.call(process, message, ...rest);
};
