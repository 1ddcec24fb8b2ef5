import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useEscape } from '../../parts/escape.ts';

interface Facts {
  readonly label: string;
  readonly name: string;
  readonly most: number;
  readonly placeholder?: string;
  readonly onSave: (name: string) => void;
  readonly onEnd: () => void;
}

export function Naming({ label, name: old, most, placeholder, onSave, onEnd }: Facts) {
  const [name, setName] = useState(old);
  const field = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  // Before the first frame, so that no key is lost.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  useEscape(true, () => {
    isOver.current = true;
    onEnd();
  });
  const save = () => {
    if (isOver.current) return;
    isOver.current = true;
    const wanted = name.trim();
    if (wanted !== '' && wanted !== old) onSave(wanted);
    onEnd();
  };
  return (
    <form
      class="naming"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <input
        ref={field}
        aria-label={label}
        maxLength={most}
        placeholder={placeholder}
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
        onBlur={save}
      />
    </form>
  );
}
