export function Spark({ values }: { values: readonly number[] }) {
  const top = Math.max(...values, 1e-9);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map(
    (value, at) => `${(at * step).toFixed(2)},${(27 - (25 * value) / top).toFixed(2)}`,
  );
  return (
    <svg class="spark" viewBox="0 0 100 28" preserveAspectRatio="none" aria-hidden="true">
      {values.length < 2 ? null : (
        <>
          <polygon points={`0,28 ${points.join(' ')} 100,28`} />
          <polyline points={points.join(' ')} />
        </>
      )}
    </svg>
  );
}
