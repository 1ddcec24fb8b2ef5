export function memoizeByObject<Given extends object, Made>(
  make: (given: Given) => Made,
): (given: Given) => Made {
  const known = new WeakMap<Given, { readonly made: Made }>();
  return (given) => {
    let kept = known.get(given);
    if (kept === undefined) {
      kept = { made: make(given) };
      known.set(given, kept);
    }
    return kept.made;
  };
}

export function lazy<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => (made ??= { value: make() }).value;
}
