export function Options({ of }: { of: readonly { readonly name: string; readonly label: string }[] }) {
  return (
    <>
      {of.map(({ name, label }) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </>
  );
}
