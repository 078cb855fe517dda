import { useSyncExternalStore } from 'react';
import { Download } from './Download.jsx';
import { current, subscribe } from './measure.js';

const grouped = (number) => Number(number).toLocaleString('en-US');
const size = (bytes) => (bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`);

/** Time, size and cost of the last response, and a button that downloads it as CSV. */
export function Measure() {
  const measure = useSyncExternalStore(subscribe, current);
  if (!measure) {
    return null;
  }
  const { ms, bytes, packed, cost, limit } = measure;
  return (
    <div className="heliograph-answer">
      <p className="heliograph-measure" role="status">
        <span>{ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms</span>
        <span>
          {size(bytes)}
          {packed !== null && ` (${size(packed)} compressed)`}
        </span>
        {cost !== null && (
          <span>
            cost {grouped(cost)}
            {limit !== null && ` of ${grouped(limit)}`}
          </span>
        )}
      </p>
      <Download />
    </div>
  );
}
