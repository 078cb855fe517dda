import { useGraphiQL } from '@graphiql/react';
import { useSyncExternalStore } from 'react';
import { clear, current, MAX_EVENTS, pause, subscribe } from './events.js';

const clock = (time) => `${time.toLocaleTimeString('en-GB')}.${String(time.getMilliseconds()).padStart(3, '0')}`;

/** The events of a subscription, newest first. A click on an event pauses the list and shows the event as the result. */
export function Events() {
  const { events, count, running, paused } = useSyncExternalStore(subscribe, current);
  const responseEditor = useGraphiQL((state) => state.responseEditor);
  if (!running && count === 0) {
    return null;
  }
  function show(result) {
    pause(true);
    responseEditor?.setValue(JSON.stringify(result, null, 2));
  }
  return (
    <section className="heliograph-events" aria-label="Events">
      <header>
        <span className="heliograph-events-count">
          {count === 1 ? '1 event' : `${count} events`}
          {count > MAX_EVENTS && `, the newest ${MAX_EVENTS} listed`}
          {!running && ', ended'}
        </span>
        <button type="button" aria-pressed={paused} onClick={() => pause(!paused)}>
          {paused ? 'Resume' : 'Pause'}
        </button>
        <button type="button" onClick={clear}>
          Clear
        </button>
      </header>
      {events.length > 0 && (
        <ol reversed>
          {events.map(({ number, time, result }) => (
            <li key={number}>
              <button type="button" onClick={() => show(result)}>
                <span>#{number}</span> <time dateTime={time.toISOString()}>{clock(time)}</time> <code>{JSON.stringify(result.data ?? result)}</code>
              </button>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
