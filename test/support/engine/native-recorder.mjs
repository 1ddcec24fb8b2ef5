/**
 * Preloaded into a worker (node --import): writes one line of JSON for each call of llama_decode, with the rows as
 * llama.cpp itself gets them, and one for each message to the server. It wraps the foreign function and the channel, so
 * the worker's own code runs unchanged.
 */
import { appendFileSync } from 'node:fs';
import koffi from 'koffi';

const write = (line) => appendFileSync(process.env.HEARTH_NATIVE_RECORD, `${JSON.stringify(line)}\n`);

const open = koffi.load;
koffi.load = (...args) => {
  const library = open(...args);
  const recorded = (name, ...rest) => {
    const bound = library.func(name, ...rest);
    if (name !== 'llama_decode') return bound;
    return (context, batch) => {
      write({ call: rowsOf(batch) });
      return bound(context, batch);
    };
  };
  return new Proxy(library, {
    get: (target, member) =>
      member === 'func'
        ? recorded
        : typeof target[member] === 'function'
          ? target[member].bind(target)
          : target[member],
  });
};

/** Neighbouring rows of one sequence, as one entry. */
function rowsOf({ n_tokens: count, pos, seq_id: ids, logits }) {
  const positions = koffi.decode(pos, koffi.array('int32', count));
  const sequences = koffi.decode(ids, koffi.array('void*', count)).map((id) => koffi.decode(id, 'int32'));
  const wanted = koffi.decode(logits, koffi.array('int8', count));
  const rows = [];
  for (let at = 0; at < count; at += 1) {
    if (rows.at(-1)?.sequence !== sequences[at])
      rows.push({ sequence: sequences[at], position: positions[at], rows: 0, logits: 0 });
    rows.at(-1).rows += 1;
    rows.at(-1).logits += wanted[at] === 0 ? 0 : 1;
  }
  return rows;
}

const send = process.send;
process.send = (message, ...rest) => {
  const events = message.events?.map(({ jobId, event }) => ({ jobId, type: event.type })) ?? [];
  write({ message: message.type, events });
  return send.call(process, message, ...rest);
};
