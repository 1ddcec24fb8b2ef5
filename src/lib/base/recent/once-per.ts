/** What is made of an object is made once, and kept as long as the object is. */
export function oncePer<Given extends object, Made>(make: (given: Given) => Made): (given: Given) => Made {
  const known = new WeakMap<Given, { readonly made: Made }>();
  return (given) => {
    const { made } = known.get(given) ?? { made: make(given) };
    known.set(given, { made });
    return made;
  };
}
