import { permanent, transient } from './entry.ts';
import { quoted } from './quoted.ts';

export const storeErrors = {
  gguf_invalid: permanent(
    'store',
    { path: 'string', reason: 'string', param: 'string?' },
    (d) => `"${d.path}" is not a usable GGUF model: ${d.reason}; fetch it again, or use another file.`,
  ),
  model_id_invalid: permanent(
    'request',
    { id: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `${quoted(d.id)} is not a valid model id: ${d.reason}; use lower-case letters, digits, ".", "_" and "-", at most one "/" and one ":", for example "mistral-7b:q4_k_m".`,
  ),
  name_taken: permanent(
    'conflict',
    { name: 'string', model: 'string', isAlias: 'boolean?', param: 'string?' },
    (d) =>
      d.isAlias === true
        ? `${quoted(d.name)} is already an alias of model "${d.model}"; choose another name, or remove that alias: hearth rm ${d.name}.`
        : `${quoted(d.name)} is already the name of model "${d.model}"; choose another name.`,
  ),
  model_exists: permanent(
    'conflict',
    { model: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `Model "${d.model}" is already installed (${d.reason}); run: hearth rm ${d.model}, or choose another id with --id.`,
  ),
  model_changed: permanent(
    'conflict',
    { model: 'string', param: 'string?' },
    (d) => `Model "${d.model}" was changed by another process in the meantime; run the command again.`,
  ),
  other_hearth_failed: permanent(
    'unavailable',
    { folder: 'string', reason: 'string' },
    (d) =>
      `The Hearth in ${quoted(d.folder)} did not finish the comparison (${d.reason}); build it there, or name another folder.`,
  ),
  manifest_damaged: permanent(
    'store',
    { model: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `The manifest of model "${d.model}" is damaged (${d.reason}); run: hearth rm ${d.model}, then install the model again.`,
  ),
  file_unusable: permanent(
    'store',
    { path: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `${quoted(d.path)} cannot be used as a model: ${d.reason}; give the path of a plain GGUF file that this user can read.`,
  ),
  setting_file_unusable: permanent(
    'store',
    { path: 'string', as: 'string', reason: 'string' },
    (d) => `${quoted(d.path)} cannot be used as ${d.as}: ${d.reason}; correct the file, or set another.`,
  ),
  file_not_found: permanent(
    'not_found',
    { path: 'string', param: 'string?' },
    (d) => `There is no file ${quoted(d.path)}; check the path.`,
  ),
  key_file_unusable: permanent(
    'store',
    { path: 'string', reason: 'string' },
    (d) =>
      `The API keys in ${quoted(d.path)} cannot be used: ${d.reason}; no key is accepted until the file is repaired.`,
  ),
  pins_unusable: permanent(
    'store',
    { path: 'string', reason: 'string' },
    (d) =>
      `The list of pinned prompts ${quoted(d.path)} cannot be used: ${d.reason}; repair it, or remove it and pin again.`,
  ),
  key_exists: permanent(
    'request',
    { name: 'string' },
    (d) => `There is an API key "${d.name}" already; choose another name, or run: hearth key rm ${d.name}.`,
  ),
  key_not_found: permanent(
    'not_found',
    { name: 'string' },
    (d) => `There is no API key "${d.name}"; hearth key list shows them.`,
  ),
  digest_mismatch: permanent(
    'store',
    { path: 'string', expected: 'string', actual: 'string', param: 'string?' },
    (d) =>
      `${quoted(d.path)} has SHA-256 ${d.actual} where ${d.expected} was expected; the file is refused, fetch it again.`,
  ),
  signature_invalid: permanent(
    'store',
    { reason: 'string' },
    (d) => `The signature does not hold: ${d.reason}; get it again from the maker of the model.`,
  ),
  signature_refused: permanent(
    'store',
    { model: 'string', reason: 'string', remedy: 'string', param: 'string?' },
    (d) =>
      `Model "${d.model}" is not installed, because SVC_SIGNATURES is enforce and ${d.reason}; ${d.remedy}.`,
  ),
  store_busy: transient(
    'busy',
    { what: 'string', holder: 'string', pid: 'number?', param: 'string?' },
    (d) =>
      `${d.what} is in use by another process (${d.holder}); wait until it has finished, or stop it, and try again.`,
  ),
  library_unsupported: permanent(
    'not_found',
    { kind: 'string', platform: 'string', param: 'string?' },
    (d) =>
      `Hearth knows no ${d.kind} library for ${d.platform}; with SVC_GPU=off the models run on the processor.`,
  ),
  library_unavailable: permanent(
    'unavailable',
    { package: 'string', registry: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `${d.package} could not be fetched from ${d.registry} (${d.reason}); check the network and npm's registry and proxy settings, and run the command again.`,
  ),
  library_refused: permanent(
    'store',
    { package: 'string', reason: 'string', param: 'string?' },
    (d) => `${d.package} is refused: ${d.reason}; nothing was installed, fetch it from another registry.`,
  ),
  library_build_impossible: permanent(
    'request',
    { reason: 'string', remedy: 'string', param: 'string?' },
    (d) => `llama.cpp cannot be built here: ${d.reason}; ${d.remedy}.`,
  ),
  library_build_failed: permanent(
    'store',
    { what: 'string', log: 'string', output: 'string', param: 'string?' },
    (d) => `${d.what}; its last lines are below, all of them in ${d.log}.\n${d.output}`,
  ),
  own_library_unknown: permanent(
    'not_found',
    { name: 'string', names: 'string', param: 'string?' },
    (d) => `No build of llama.cpp is kept under the name ${quoted(d.name)}; there are: ${d.names}.`,
  ),
  own_library_refused: permanent(
    'request',
    { folder: 'string', reason: 'string', param: 'string?' },
    (d) => `${quoted(d.folder)} holds no llama.cpp that Hearth can use: ${d.reason}; nothing was changed.`,
  ),
  store_unwritable: permanent(
    'store',
    { path: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `${quoted(d.path)} cannot be written (${d.reason}); check its owner and permissions, or set SVC_HOME to a folder that you own.`,
  ),
  store_unreadable: permanent(
    'store',
    { path: 'string', reason: 'string', remedy: 'string', param: 'string?' },
    (d) => `${quoted(d.path)} is not readable by this user (${d.reason}); ${d.remedy}.`,
  ),
  disk_full: permanent(
    'store',
    { path: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `There is not enough room for ${quoted(d.path)} (${d.reason}); free some space and run the command again.`,
  ),
  record_malformed: permanent(
    'request',
    { reason: 'string' },
    (d) => `The evidence record is not usable: ${d.reason}.`,
  ),
  record_not_comparable: permanent(
    'request',
    { reason: 'string' },
    (d) => `The evidence record cannot be compared on this machine: ${d.reason}.`,
  ),
  instance_unusable: permanent(
    'store',
    { path: 'string', reason: 'string', folder: 'string' },
    (d) =>
      `${quoted(d.path)} ${d.reason}; restore it from a backup, or remove the whole folder ${quoted(d.folder)} to become a new instance.`,
  ),
};
