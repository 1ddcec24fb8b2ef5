/** What is made of an object is made once, and kept as long as the object is. */
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
