import { useRef, useState } from 'preact/hooks';

export interface Asked<Of, Value> {
  readonly of: Of;
  readonly isBusy: boolean;
  /** While busy: the value of the request before. */
  readonly value?: Value | undefined;
  readonly error?: unknown;
}

/** The newest request of a view, with its subject; answers of older requests are dropped. */
export function useAsked<Of, Value>(): readonly [
  Asked<Of, Value> | null,
  (of: Of, work: () => Promise<Value>) => void,
] {
  const [asked, setAsked] = useState<Asked<Of, Value> | null>(null);
  const number = useRef(0);
  const ask = (of: Of, work: () => Promise<Value>): void => {
    number.current += 1;
    const own = number.current;
    const end = (part: { readonly value: Value } | { readonly error: unknown }): void => {
      if (own === number.current) setAsked({ of, isBusy: false, ...part });
    };
    setAsked((last) => ({ of, isBusy: true, value: last?.value }));
    work().then(
      (value) => end({ value }),
      (error: unknown) => end({ error }),
    );
  };
  return [asked, ask];
}
