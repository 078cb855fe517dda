import { useSyncExternalStore } from 'react';
import { current, subscribe } from './measure.js';

/** The pictures in the last response. As images they run no scripts. */
export function Pictures() {
  const pictures = useSyncExternalStore(subscribe, current)?.pictures ?? [];
  if (pictures.length === 0) {
    return null;
  }
  return (
    <section className="heliograph-pictures" aria-label="Pictures">
      {pictures.map((url, i) => (
        <img key={url} src={url} alt={`Picture ${i + 1} of the response`} />
      ))}
    </section>
  );
}
