import { Download, Upload } from 'lucide';
import { useState } from 'preact/hooks';
import { Failure } from '../../parts/failure.tsx';
import { plural } from '../../parts/figures.ts';
import { fileName, saveFile } from '../../parts/files.ts';
import { Icon, IconButton } from '../../parts/icon.tsx';
import { sentenceOf } from '../../service/client.ts';
import { add, kept } from '../talk/conversations.ts';
import { exportFile, importFile, newOf } from '../talk/exported.ts';
import { addPresets, presets } from '../talk/presets.ts';

export const exportAll = (): void =>
  saveFile(fileName('conversations'), exportFile(kept.value, presets.value));

export function Transfer() {
  const [said, setSaid] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      const { conversations: imported, presets: named } = importFile(await file.text());
      const fresh = newOf(imported, kept.value);
      add(fresh);
      setSaid(importWords(fresh.length, imported.length - fresh.length, addPresets(named)));
      setFault(null);
    } catch (error) {
      setFault(sentenceOf(error));
    }
  };
  return (
    <div class="transfer">
      <IconButton
        icon={Download}
        name="Export"
        disabled={kept.value.length + presets.value.length === 0}
        onClick={exportAll}
        words="Export"
      />
      <label class="button quiet icon-button">
        <Icon of={Upload} />
        <span class="words">Import</span>
        <input
          type="file"
          class="unseen"
          accept="application/json,.json"
          onChange={({ currentTarget }) => {
            void read(currentTarget.files?.[0]);
            // Lets the same file be chosen again.
            currentTarget.value = '';
          }}
        />
      </label>
      {said === null ? null : (
        <p class="hint" role="status">
          {said}
        </p>
      )}
      <Failure text={fault} />
    </div>
  );
}

function importWords(fresh: number, skipped: number, presetCount: number): string {
  const named = presetCount === 0 ? '' : ` and ${plural(presetCount, 'preset')}`;
  const imported = `${plural(fresh, 'conversation')}${named} imported`;
  return skipped === 0 ? `${imported}.` : `${imported}; ${skipped} skipped: already here.`;
}
