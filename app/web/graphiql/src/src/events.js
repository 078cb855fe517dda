// The events of the running or last subscription.

/** Older events are discarded. */
export const MAX_EVENTS = 200;
const REDRAW_MS = 50;

/**
 * @typedef {{ number: number, time: Date, result: object }} Event
 * @typedef {{ events: Event[], count: number, running: boolean, paused: boolean }} Events The newest event is the first.
 */

const NONE = { events: [], count: 0, running: false, paused: false };

let state = NONE;
let waiting = []; // events since the last redraw or pause, newest first
let timer = null;
const listeners = new Set();

function change(changes) {
  state = { ...state, ...changes };
  listeners.forEach((listener) => listener());
}

function redraw() {
  clearTimeout(timer);
  timer = null;
  const events = state.paused ? state.events : [...waiting.splice(0), ...state.events].slice(0, MAX_EVENTS);
  change({ events, count: state.count });
}

export const subscribe = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
/** @returns {Events} */
export const current = () => state;

export function pause(paused) {
  state = { ...state, paused };
  redraw();
}

export function clear() {
  waiting = [];
  change({ events: [], count: 0 });
}

/** Clears the list at the start of a subscription. */
function start() {
  waiting = [];
  change({ ...NONE, running: true });
}

function add(result) {
  state = { ...state, count: state.count + 1 };
  waiting.unshift({ number: state.count, time: new Date(), result });
  waiting.length = Math.min(waiting.length, MAX_EVENTS);
  timer ??= setTimeout(redraw, REDRAW_MS);
}

/**
 * Records the events of a subscription. While the list is paused, the iterator returned does not deliver events.
 * @param {AsyncIterable<object>} source
 * @returns {AsyncIterableIterator<object>}
 */
export function recorded(source) {
  const iterator = source[Symbol.asyncIterator]();
  start();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      try {
        for (;;) {
          const step = await iterator.next();
          if (step.done) {
            change({ running: false });
            return step;
          }
          add(step.value);
          if (!state.paused) {
            return step;
          }
        }
      } catch (error) {
        change({ running: false });
        throw error;
      }
    },
    // Not an async generator, whose return() would wait for the next event.
    return() {
      change({ running: false });
      return iterator.return?.() ?? Promise.resolve({ done: true, value: undefined });
    },
  };
}
